import { type Static, Type } from 'typebox';
import { MapOf } from '../schema/define.js';

export const JsonRpcNotification = Type.Object(
  {
    jsonrpc: Type.Literal('2.0'),
    method: Type.String({ description: 'The name of the notification.' }),
    params: Type.Optional(MapOf(Type.Unknown(), { description: 'What it carries.' })),
  },
  { $id: 'JsonRpcNotification', description: 'A call that must not be answered.' },
);
export type JsonRpcNotification = Static<typeof JsonRpcNotification>;
