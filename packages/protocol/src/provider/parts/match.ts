import { type Static, Type } from 'typebox';

// The one closed object of this contract. Everywhere else an unknown field is ignored; ignoring an unknown condition
// would make the rule match more calls than its author meant.
export const ProviderMatch = Type.Object(
  {
    tool: Type.Optional(Type.String({ description: 'The name of a tool.' })),
    args: Type.Optional(Type.String({ description: 'A regular expression, tried on the arguments as compact JSON.' })),
    provider: Type.Optional(Type.String({ description: 'Whose tool it is, by the name of the provider.' })),
    file: Type.Optional(Type.String({ description: 'A glob, tried on the arguments that look like paths.' })),
  },
  {
    additionalProperties: false,
    $id: 'ProviderMatch',
    description: 'Which tool calls a rule applies to: every condition given must hold.',
  },
);
export type ProviderMatch = Static<typeof ProviderMatch>;
