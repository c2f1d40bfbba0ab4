import { type Static, Type } from 'typebox';
import { Choice } from '../../schema/define.js';
import { ProviderJsonObject } from './json-object.js';

export const ProviderToolExecutionResult = Type.Object(
  {
    type: Choice(['success', 'failure'], { description: 'Whether it succeeded.' }),
    output: Type.Optional(Type.String({ description: 'What it gave, as text.' })),
  },
  { $id: 'ProviderToolExecutionResult', description: 'How a tool call ended.' },
);
export type ProviderToolExecutionResult = Static<typeof ProviderToolExecutionResult>;

export const ProviderToolExecutionData = Type.Object(
  {
    tool: Type.String(),
    provider: Type.Optional(
      Type.String({ description: 'The provider that owns the tool; absent for tools that no provider brought.' }),
    ),
    args: ProviderJsonObject,
    result: ProviderToolExecutionResult,
    durationMs: Type.Number({ minimum: 0 }),
  },
  { $id: 'ProviderToolExecutionData', description: 'A tool call that has ended, whoever ran it.' },
);
export type ProviderToolExecutionData = Static<typeof ProviderToolExecutionData>;
