/** The model and the custom agent that a session uses, and the tokens that they cost. */
import { type Static, Type } from 'typebox';
import { MapOf } from '../schema/define.js';
import { Meta, URI } from './uri.js';

export const ModelSelection = Type.Object(
  { id: Type.String(), config: Type.Optional(MapOf(Type.String(), { description: 'Options of the model, by name.' })) },
  { $id: 'ModelSelection', description: 'A model and the options chosen for it.' },
);
export type ModelSelection = Static<typeof ModelSelection>;

export const AgentSelection = Type.Object(
  { uri: URI },
  {
    $id: 'AgentSelection',
    description: 'A custom agent, named by the `uri` of an agent customization of the session.',
  },
);
export type AgentSelection = Static<typeof AgentSelection>;

export const UsageInfo = Type.Object(
  {
    inputTokens: Type.Optional(Type.Number({ description: 'Tokens that the model read.' })),
    outputTokens: Type.Optional(Type.Number({ description: 'Tokens that it wrote.' })),
    cacheReadTokens: Type.Optional(Type.Number({ description: 'Those of the input that came from a cache.' })),
    model: Type.Optional(Type.String({ description: 'The model that was used.' })),
    _meta: Type.Optional(Meta),
  },
  { $id: 'UsageInfo', description: 'Tokens spent on a turn.' },
);
export type UsageInfo = Static<typeof UsageInfo>;
