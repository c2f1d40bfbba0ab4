import { type Static, Type } from 'typebox';
import { JsonRpcErrorObject } from './error-object.js';

export const JsonRpcErrorResponse = Type.Object(
  {
    jsonrpc: Type.Literal('2.0'),
    id: Type.Union([Type.Number(), Type.Null()], { description: 'That of the request.' }),
    error: JsonRpcErrorObject,
  },
  { $id: 'JsonRpcErrorResponse', description: 'The failure of a request; `id` is null when it could not be read.' },
);
export type JsonRpcErrorResponse = Static<typeof JsonRpcErrorResponse>;
