import { type Static, Type } from 'typebox';
import { MapOf } from '../schema/define.js';

export const JsonRpcRequest = Type.Object(
  {
    jsonrpc: Type.Literal('2.0'),
    id: Type.Number(),
    method: Type.String(),
    params: Type.Optional(MapOf(Type.Unknown())),
  },
  { $id: 'JsonRpcRequest', description: 'A call that must be answered exactly once.' },
);
export type JsonRpcRequest = Static<typeof JsonRpcRequest>;
