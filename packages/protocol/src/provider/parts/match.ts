import { type Static, Type } from 'typebox';

// The one closed object of this contract. Everywhere else an unknown field is ignored; ignoring an unknown condition
// would make the rule match more calls than its author meant.
export const ProviderMatch = Type.Object(
  {
    tool: Type.Optional(Type.String()),
    /** A regular expression, tried on the arguments as compact JSON. */
    args: Type.Optional(Type.String()),
    provider: Type.Optional(Type.String()),
    /** A glob, tried on the arguments that look like paths. */
    file: Type.Optional(Type.String()),
  },
  {
    additionalProperties: false,
    $id: 'ProviderMatch',
    description: 'Which tool calls a rule applies to: every condition given must hold.',
  },
);
export type ProviderMatch = Static<typeof ProviderMatch>;
