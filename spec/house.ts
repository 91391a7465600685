import * as documentRules from './house/documentRules.ts'
import { expandErrors } from './house/expandErrors.ts'
import * as operationRules from './house/operationRules.ts'
import * as schemaRules from './house/schemaRules.ts'

/** The Redocly plugin: house rules over the split documents, and the decorator that completes the bundles. */
// Redocly loads a plugin by its default export.
export default () => ({
  id: 'house',
  rules: {
    oas3: {
      'operation-id-is-file-name': operationRules.operationIdIsFileName,
      'operation-id-style': operationRules.operationIdStyle,
      'one-tag': operationRules.oneTag,
      'caller-declared': operationRules.callerDeclared,
      'keys-fit': operationRules.keysFit,
      'errors-implied': operationRules.errorsImplied,
      'list-envelope': operationRules.listEnvelope,
      'example-given': operationRules.exampleGiven,
      'member-described': schemaRules.memberDescribed,
      'member-snake-case': schemaRules.memberSnakeCase,
      'plain-schema': schemaRules.plainSchema,
      'nullable-typed': schemaRules.nullableTyped,
      'object-closed': schemaRules.objectClosed,
      'discriminator-mapped': schemaRules.discriminatorMapped,
      'clamp-fits': schemaRules.clampFits,
      'name-distinct': schemaRules.nameDistinct,
      'key-known': documentRules.keyKnown,
      'service-named': documentRules.serviceNamed,
      'method-is-reference': documentRules.methodIsReference,
      'paths-distinct': documentRules.pathsDistinct,
      'file-referenced': documentRules.fileReferenced,
    },
  },
  decorators: { oas3: { 'expand-errors': expandErrors } },
})
