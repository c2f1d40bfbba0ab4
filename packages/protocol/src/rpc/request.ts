import { type Static, Type } from 'typebox';
import { MapOf } from '../schema/define.js';

export const JsonRpcRequest = Type.Object(
  {
    jsonrpc: Type.Literal('2.0'),
    id: Type.Number({ description: 'Chosen by the sender; the answer has the same.' }),
    method: Type.String({ description: 'The name of the command.' }),
    params: Type.Optional(MapOf(Type.Unknown(), { description: 'What it takes.' })),
  },
  { $id: 'JsonRpcRequest', description: 'A call that must be answered exactly once.' },
);
export type JsonRpcRequest = Static<typeof JsonRpcRequest>;
