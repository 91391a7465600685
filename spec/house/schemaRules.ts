import type { Parameter, Schema } from './openapi.ts'
import type { Context, Location } from './redocly.ts'
import { follower } from './redocly.ts'

const onSchema = (check: (schema: Schema, context: Context) => void) => () => ({ Schema: { enter: check } })

const say = (context: Context, message: string, ...path: string[]): void =>
  context.report({ message, ...(path.length ? { location: context.location.child(path) } : {}) })

/** Every member says what it means, itself or by the schema it refers to. */
export const memberDescribed = onSchema((schema, context) => {
  const follow = follower(context)
  for (const [name, member] of Object.entries(schema.properties ?? {})) {
    const described = follow<Schema | undefined>(member).node?.description
    if (!described) say(context, `${name} has no description.`, 'properties', name)
  }
})

const OTHERS_NAMES = ['maxNumber']

/** Members are snake_case, but for names that another specification fixed (the ALTCHA challenge). */
export const memberSnakeCase = onSchema((schema, context) => {
  for (const name of Object.keys(schema.properties ?? {})) {
    if (!/^[a-z][a-z0-9]*(_[a-z0-9]+)*$/.test(name) && !OTHERS_NAMES.includes(name)) {
      say(context, `${name} must be snake_case.`, 'properties', name)
    }
  }
})

/** Dredd's parser, generators and readable validation errors all need plain schemas. */
export const plainSchema = onSchema((schema, context) => {
  for (const word of ['allOf', 'anyOf', 'not']) {
    if (word in schema) say(context, `${word} is not used: write the members out, or oneOf with a discriminator.`, word)
  }
  for (const word of ['exclusiveMinimum', 'exclusiveMaximum']) {
    if (word in schema) say(context, `${word} differs between OpenAPI 3.0 and 3.1: shift the limit instead.`, word)
  }
})

/** `nullable: false` would survive into 3.1, where it means nothing; without a type nullable is not translated. */
export const nullableTyped = onSchema((schema, context) => {
  if (!('nullable' in schema)) return
  if (schema.nullable !== true) say(context, 'Leave nullable out where it is not true.', 'nullable')
  if (typeof schema.type !== 'string') say(context, 'nullable needs type beside it.', 'nullable')
})

/** An unknown member is refused in requests and noticed in answers (decision 1.8): objects say if they are open. */
export const objectClosed = onSchema((schema, context) => {
  if (schema.properties && schema.additionalProperties === undefined) {
    say(context, 'Say additionalProperties: false (or a schema) beside properties.', 'properties')
  }
})

export const discriminatorMapped = onSchema((schema, context) => {
  if (schema.oneOf && !schema.discriminator) say(context, 'oneOf needs a discriminator.', 'oneOf')
  if (schema.discriminator && !schema.discriminator.mapping) {
    say(context, 'A discriminator needs a mapping.', 'discriminator')
  }
})

/** x-clamp moves values, so it stands on an integer parameter and has no limits beside it that would refuse them. */
export const clampFits = () => {
  const ofParameters = new Set<unknown>()
  return {
    Parameter: {
      enter(parameter: Parameter, context: Context) {
        ofParameters.add(follower(context)<Schema | undefined>(parameter.schema).node)
      },
    },
    Schema: {
      enter(schema: Schema, context: Context) {
        if (!('x-clamp' in schema)) return
        if (!ofParameters.has(schema)) say(context, 'x-clamp stands on the schema of a parameter.', 'x-clamp')
        if (schema.type !== 'integer') say(context, 'x-clamp needs type: integer.', 'x-clamp')
        if ('minimum' in schema || 'maximum' in schema) {
          say(context, 'x-clamp has no minimum or maximum beside it.', 'x-clamp')
        }
      },
    },
  }
}

const bare = (name: string): string => name.toLowerCase().replaceAll(/[_-]/g, '')

/** Groups of names that some generator would make one. */
function alike(names: string[]): string[][] {
  return [...Map.groupBy([...new Set(names)], bare).values()].filter((group) => group.length > 1)
}

const BUILT_IN = ['Error', 'Object', 'File', 'Date', 'Map']

/** Names that code generators can live with: no built-in type, no two that differ only in case, `_` or `-`. */
export const nameDistinct = () => {
  const components = new Map<string, Location>()
  return {
    Schema: {
      enter(schema: Schema, context: Context) {
        const [, name] = /^#\/([^/]+)$/.exec(context.location.pointer) ?? []
        if (name) {
          components.set(name, context.location)
          if (BUILT_IN.includes(name)) say(context, `${name} is the name of a built-in type in generated code.`)
        }
        for (const group of alike(Object.keys(schema.properties ?? {}))) {
          say(context, `${group.join(' and ')} are one name in generated code.`, 'properties', group[1] as string)
        }
        for (const group of alike((schema.enum ?? []).filter((value) => typeof value === 'string'))) {
          say(context, `${group.join(' and ')} are one name in generated code.`, 'enum')
        }
      },
    },
    Root: {
      leave(_: unknown, context: Context) {
        for (const group of alike([...components.keys()])) {
          const location = components.get(group[1] as string) as Location
          context.report({ message: `${group.join(' and ')} are one name in generated code.`, location })
        }
      },
    },
  }
}
