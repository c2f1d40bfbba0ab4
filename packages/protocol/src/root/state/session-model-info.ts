import { type Static, Type } from 'typebox';
import { ConfigSchema } from '../../common/config-schema.js';
import { Meta } from '../../common/meta.js';
import { PolicyState } from './policy-state.js';

export const SessionModelInfo = Type.Object(
  {
    id: Type.String(),
    provider: Type.String(),
    name: Type.String(),
    maxContextWindow: Type.Optional(Type.Number({ description: 'In tokens.' })),
    supportsVision: Type.Optional(Type.Boolean({ description: 'Whether it can see images.' })),
    policyState: Type.Optional(PolicyState),
    configSchema: Type.Optional(ConfigSchema),
    _meta: Type.Optional(Meta),
  },
  { $id: 'SessionModelInfo', description: 'A model that an agent can use.' },
);
export type SessionModelInfo = Static<typeof SessionModelInfo>;
