import { type Static, Type } from 'typebox';

export const JsonRpcErrorObject = Type.Object(
  {
    code: Type.Integer({ description: 'One of the codes of this protocol.' }),
    message: Type.String(),
    data: Type.Optional(Type.Unknown({ description: 'More, for programs; each code says what.' })),
  },
  { $id: 'JsonRpcErrorObject', description: 'Why a request failed.' },
);
export type JsonRpcErrorObject = Static<typeof JsonRpcErrorObject>;
