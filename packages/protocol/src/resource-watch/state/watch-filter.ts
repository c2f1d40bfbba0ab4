import { type Static, Type } from 'typebox';

export const WatchFilter = Type.Object(
  { items: Type.Array(Type.String()) },
  { $id: 'WatchFilter', description: 'Globs or paths relative to the watched root.' },
);
export type WatchFilter = Static<typeof WatchFilter>;
