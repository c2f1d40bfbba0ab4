import { type Static, Type } from 'typebox';

export const JsonRpcSuccessResponse = Type.Object(
  {
    jsonrpc: Type.Literal('2.0'),
    id: Type.Number({ description: 'That of the request.' }),
    result: Type.Unknown({ description: 'What it gives.' }),
  },
  { $id: 'JsonRpcSuccessResponse', description: 'The answer to a request.' },
);
export type JsonRpcSuccessResponse = Static<typeof JsonRpcSuccessResponse>;
