import tseslint from 'typescript-eslint'

/** A rule of one selector: what it forbids, and what to do instead. */
const forbid = (selector, message) => ({ create: (context) => ({ [selector]: (node) => context.report({ node, message }) }) })

const house = {
  rules: {
    // A name that every importer makes up cannot be searched for.
    'no-default-export': forbid('ExportDefaultDeclaration', 'Export it by its name.'),
    // Text that is not a template is where injections come from.
    'no-unsafe-sql': forbid('MemberExpression[property.name="unsafe"]', 'Write the statement as a template: sql`…`.'),
    // One typed table of settings, and a start-up that names what is missing.
    'no-environment': forbid(
      'MemberExpression[object.name="process"][property.name="env"]', 'Add the setting to domain/configuration.ts and take it from the Configuration.',
    ),
    // The typed `fail` admits only codes that the operation declares.
    'no-untyped-error': forbid('NewExpression[callee.name="ApiError"]', 'Call `fail` of the handler\'s context: it knows the declared codes.'),
    // Tests hold the clock still.
    'no-clock': forbid(
      ':matches(CallExpression[callee.object.name="Date"][callee.property.name="now"], NewExpression[callee.name="Date"][arguments.length=0])',
      'Take `now` from the context or the Runtime.',
    ),
    // Tests repeat what was random; and this source can be guessed.
    'no-randomness': forbid('MemberExpression[object.name="Math"][property.name="random"]', 'Take randomBytes of the Runtime.'),
  },
}

const tests = ['**/*.test.ts', 'contract-tests/**', '**/*Bench.ts']
const entries = ['handlers/server.ts', 'jobs/main.ts', 'providers/simulator/server.ts']
const services = ['domain/**/*.ts', 'db/**/*.ts', 'providers/**/*.ts', 'jobs/**/*.ts', 'handlers/**/*.ts', 'pages/**/*.ts']

export default tseslint.config(
  { ignores: ['generated/', 'sdk/*/dist/', 'sdk/*/src/events.ts', 'node_modules/', '.dev/', 'coverage/', '.dependency-cruiser.cjs'] },
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.recommended],
    plugins: { house },
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: {
      'house/no-default-export': 'error',
      'house/no-unsafe-sql': 'error',
      'house/no-environment': 'error',
      // `==` converts.
      'eqeqeq': 'error',
      // What is longer has two subjects: split it.
      'max-lines': ['error', { max: 400 }],
      'max-lines-per-function': ['error', { max: 70, skipBlankLines: true, skipComments: true }],
      // A promise that nobody waits for loses its error and outlives its transaction.
      '@typescript-eslint/no-floating-promises': 'error',
      // An async function where none is expected: its error is lost too.
      '@typescript-eslint/no-misused-promises': ['error', { checksVoidReturn: { arguments: false } }],
      // Waiting for what is no promise hides a forgotten call.
      '@typescript-eslint/await-thenable': 'error',
      // A cast that changes nothing hides the ones that do.
      '@typescript-eslint/no-unnecessary-type-assertion': 'error',
      // What is thrown must carry a stack; a replay is no failure, it ends the guards early.
      '@typescript-eslint/only-throw-error': ['error', { allow: [{ from: 'file', name: 'Replay' }] }],
      // Type stripping leaves value imports in the program.
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'separate-type-imports', disallowTypeAnnotations: false }],
      // The compiler knows better which names are unused.
      '@typescript-eslint/no-unused-vars': 'off',
    },
  },
  {
    files: services,
    rules: {
      // Services log by pino, one JSON line each, redacted.
      'no-console': 'error',
    },
  },
  {
    files: ['domain/**/*.ts', 'handlers/**/*.ts', 'jobs/**/*.ts'],
    rules: {
      'house/no-clock': 'error',
      'house/no-randomness': 'error',
    },
  },
  {
    files: ['handlers/{payments,storefront,identity}/*/**/*.ts'],
    ignores: ['handlers/*/guards/**'],
    rules: { 'house/no-untyped-error': 'error' },
  },
  // What follows is exempt, each with its reason.
  {
    // The source of clock and randomness.
    files: ['domain/runtime.ts'],
    rules: { 'house/no-clock': 'off', 'house/no-randomness': 'off' },
  },
  {
    // Where the environment is read: the entries of processes, and what runs them.
    files: [...entries, 'run/**', 'bench/**', 'spec/**'],
    rules: { 'house/no-environment': 'off' },
  },
  {
    // The job queue hands statements over as text; migrations and invariants are text in files, recorded statements are text.
    files: ['jobs/boss.ts', 'db/migrate.ts', 'db/testDatabase.ts', 'bench/invariants.ts', 'bench/queryPlans.ts', 'bench/references/*.ts'],
    rules: { 'house/no-unsafe-sql': 'off' },
  },
  {
    // One closure around the state of a pool; its parts are short.
    files: ['db/sql.ts'],
    rules: { 'max-lines-per-function': 'off' },
  },
  {
    // The tools that load these want a default export.
    files: ['*.config.ts', 'spec/house.ts', 'contract-tests/testServer.ts'],
    rules: { 'house/no-default-export': 'off' },
  },
  {
    // Tests may be long, make errors, look at the real clock and write odd statements.
    files: tests,
    rules: {
      'max-lines-per-function': 'off', 'house/no-untyped-error': 'off', 'house/no-clock': 'off', 'house/no-randomness': 'off',
      'house/no-unsafe-sql': 'off', 'house/no-environment': 'off', 'no-console': 'off',
    },
  },
)
