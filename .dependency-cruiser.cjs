// Who may import what. The top level reads from left to right; each folder imports only what stands to its left:
// spec, generated, domain, db, providers, jobs, handlers. pages, run and the entries of processes compose.

const tests = '\\.test\\.ts$|^contract-tests/|^bench/|Bench\\.ts$|^db/testDatabase\\.ts$'
/** Entries of processes: they compose, so they see more than their folder. */
const entries = '^(handlers/server|jobs/main)\\.ts$'
const outside = `${tests}|${entries}`

/** `folder` imports nothing that stands to its right. */
const direction = (folder, right, instead) => ({
  name: `direction-${folder}`,
  comment: instead,
  severity: 'error',
  from: { path: `^${folder}/`, pathNot: outside },
  to: { path: `^(${right.join('|')})/` },
})

/** `modules` are used below `allowed` and nowhere else. */
const onlyIn = (name, modules, allowed, instead) => ({
  name,
  comment: instead,
  severity: 'error',
  from: { pathNot: `${tests}|${allowed}` },
  to: { path: `^node_modules/(${modules.join('|')})(/|$)` },
})

const services = ['payments', 'storefront', 'identity']

module.exports = {
  forbidden: [
    direction('spec', ['generated', 'domain', 'db', 'providers', 'jobs', 'handlers', 'pages', 'run'],
      'The documents know nothing of the program: what the program needs from them is generated.'),
    direction('generated', ['domain', 'db', 'providers', 'jobs', 'handlers', 'pages', 'run'],
      'Generated files stand alone: change what generates them.'),
    direction('domain', ['db', 'providers', 'jobs', 'handlers', 'pages', 'run'],
      'Rules are pure: hand in what they need as an argument, or move what does I/O to db, providers or jobs.'),
    direction('db', ['providers', 'jobs', 'handlers', 'pages', 'run'],
      'Statements know no one who uses them: move what is needed down into domain, or the caller\'s work up into jobs.'),
    direction('providers', ['jobs', 'handlers', 'pages', 'run'],
      'A provider answers to its interface: what follows from the answer is done in jobs.'),
    direction('jobs', ['handlers', 'pages', 'run'],
      'Handlers call jobs, not the reverse: move what both need down a layer, into a file named by its noun.'),
    direction('handlers', ['pages', 'run'],
      'A handler serves the API: pages compose handlers, and run starts processes.'),
    {
      name: 'documents-are-read-as-generated',
      comment: 'The program reads what is generated from the documents: add what is missing to spec/generated.ts.',
      severity: 'error',
      from: { path: '^(domain|db|providers|jobs|handlers|pages)/', pathNot: tests },
      to: { path: '^spec/' },
    },
    {
      name: 'sdk-stands-alone',
      comment: 'Receivers install it by itself: write what it needs into it, or have run/writeSdk.ts copy it there.',
      severity: 'error',
      from: { path: '^sdk/([^/]+)/' },
      to: { pathNot: '^sdk/$1/', dependencyTypesNot: ['core'] },
    },
    {
      name: 'sdk-is-for-receivers',
      comment: 'The program does not depend on what it hands out: tests compare the two.',
      severity: 'error',
      from: { pathNot: `${tests}|^sdk/` },
      to: { path: '^sdk/' },
    },
    {
      name: 'worker-composes-little',
      comment: 'The worker\'s entry shares log and metrics with the services; anything else of handlers belongs into jobs.',
      severity: 'error',
      from: { path: '^jobs/main\\.ts$' },
      to: { path: '^handlers/', pathNot: '^handlers/(log|metrics)\\.ts$' },
    },
    ...services.map((service) => ({
      name: `${service}-stands-alone`,
      comment: 'Services never import each other: ask by an operation, with a client typed from generated/, or move what both need down a layer.',
      severity: 'error',
      from: { path: `^(handlers|db)/${service}/`, pathNot: tests },
      to: { path: `^(handlers|db)/(${services.filter((other) => other !== service).join('|')})/` },
    })),
    {
      name: 'http-knows-no-service',
      comment: 'handlers/http is for every service alike: hand in what differs when the service is composed.',
      severity: 'error',
      from: { path: '^handlers/http/', pathNot: tests },
      to: { path: `^handlers/(${services.join('|')})/` },
    },
    onlyIn('driver-in-db', ['postgres'], '^db/', 'Write a function in db/ for the statement, with `sql` as its first argument.'),
    onlyIn('queue-in-jobs', ['pg-boss'], '^jobs/', 'Enqueue by a function of jobs/.'),
    {
      ...onlyIn('web-framework-in-http', ['express', '@types/express', 'openapi-backend', 'ajv', 'ajv-formats'], '^handlers/http/',
        'A handler gets what was read and answers a value: the pipeline in handlers/http does the rest.'),
      // The type of what a service listens with.
      from: { pathNot: `${tests}|^handlers/http/|^handlers/service\\.ts$` },
    },
    {
      name: 'no-cycle',
      comment: 'Two files that need each other are one subject, or hide a third: merge them, or move the third into a file of its own.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-orphan',
      comment: 'Nothing uses this file: delete it, or use it. Entries, handlers (found by their names) and tests are exempt.',
      severity: 'error',
      from: {
        orphan: true,
        pathNot: [
          tests, entries, '\\.d\\.ts$', '^generated/', '^sdk/', '^pages/(docs/)?assets/', '^run/inbox/assets/', '^handlers/(payments|storefront|identity)/[^/]+/[^/]+\\.ts$', '^run/(start|check|test|migrate)\\.ts$',
        ],
      },
      to: {},
    },
    {
      name: 'no-test-in-production',
      comment: 'What a test and the program both need is no test: move it into a file of its own.',
      severity: 'error',
      from: { pathNot: tests },
      to: { path: tests },
    },
    {
      name: 'no-vague-name',
      comment: 'Name the file by the thing that is in it; a thing used by two moves down a layer.',
      severity: 'error',
      from: {},
      to: { path: '(^|/)(utils?|common|helpers?|shared|misc|lib|base|manager)(\\.[a-z.]+|/)', pathNot: '^node_modules/|^(node|node:)' },
    },
    {
      name: 'dependency-declared',
      comment: 'It is not in package.json, or only there for development: npm ci of a production install would not have it.',
      severity: 'error',
      from: { path: '^(domain|db|providers|jobs|handlers|pages|run)/', pathNot: `${tests}|^run/(check|test)\\.ts$` },
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'], dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'resolvable',
      comment: 'The import leads nowhere: imports carry the real extension, ./x.ts. (Dredd hands `hooks` to its hook files.)',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true, pathNot: '^hooks$' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    // Types count: a type of another layer ties just as well.
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default', 'types'], extensions: ['.ts', '.js', '.mjs', '.cjs', '.json', '.d.ts'] },
    moduleSystems: ['es6', 'cjs'],
  },
}
