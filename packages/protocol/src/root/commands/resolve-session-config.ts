import { type Static, Type } from 'typebox';
import { RootChannel } from '../../common/root-channel.js';
import { URI } from '../../common/uri.js';
import { MapOf } from '../../schema/define.js';
import { SessionConfigSchema } from '../../session/state/session-config-schema.js';

export const ResolveSessionConfigParams = Type.Object(
  {
    channel: RootChannel,
    provider: Type.Optional(Type.String()),
    workingDirectory: Type.Optional(URI),
    config: Type.Optional(
      MapOf(Type.Unknown(), { description: 'What was chosen so far, by the names of properties.' }),
    ),
  },
  {
    $id: 'ResolveSessionConfigParams',
    description: 'Asks which configuration a session could have, given what was chosen so far.',
  },
);
export type ResolveSessionConfigParams = Static<typeof ResolveSessionConfigParams>;

export const ResolveSessionConfigResult = Type.Object(
  { schema: SessionConfigSchema, values: MapOf(Type.Unknown()) },
  {
    $id: 'ResolveSessionConfigResult',
    description: 'The full schema for this context, and the values with defaults filled in.',
  },
);
export type ResolveSessionConfigResult = Static<typeof ResolveSessionConfigResult>;
