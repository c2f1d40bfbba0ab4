import { type Static, Type } from 'typebox';
import { RootChannel } from '../../common/root-channel.js';
import { URI } from '../../common/uri.js';
import { MapOf } from '../../schema/define.js';

export const SessionConfigCompletionsParams = Type.Object(
  {
    channel: RootChannel,
    provider: Type.Optional(Type.String()),
    workingDirectory: Type.Optional(URI),
    config: Type.Optional(
      MapOf(Type.Unknown(), { description: 'What was chosen so far, by the names of properties.' }),
    ),
    property: Type.String({ description: 'The property whose values are wanted.' }),
    query: Type.Optional(Type.String({ description: 'What was typed; empty or absent gives usual values.' })),
  },
  {
    $id: 'SessionConfigCompletionsParams',
    description: 'Looks up values of a property whose values are too many to list.',
  },
);
export type SessionConfigCompletionsParams = Static<typeof SessionConfigCompletionsParams>;

export const SessionConfigValueItem = Type.Object(
  {
    value: Type.String({ description: 'The value itself.' }),
    label: Type.String(),
    description: Type.Optional(Type.String()),
  },
  { $id: 'SessionConfigValueItem', description: 'One value.' },
);
export type SessionConfigValueItem = Static<typeof SessionConfigValueItem>;

export const SessionConfigCompletionsResult = Type.Object(
  { items: Type.Array(SessionConfigValueItem) },
  { $id: 'SessionConfigCompletionsResult', description: 'The values found.' },
);
export type SessionConfigCompletionsResult = Static<typeof SessionConfigCompletionsResult>;
