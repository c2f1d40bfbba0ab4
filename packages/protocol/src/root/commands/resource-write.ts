import { type Static, Type } from 'typebox';
import { RootChannel } from '../../common/root-channel.js';
import { URI } from '../../common/uri.js';
import { Choice } from '../../schema/define.js';
import { ContentEncoding } from './content-encoding.js';

export const ResourceWriteMode = Choice(['truncate', 'append', 'insert'], {
  $id: 'ResourceWriteMode',
  description: "Where written bytes go; the protocol's text says how `position` counts in each.",
});
export type ResourceWriteMode = Static<typeof ResourceWriteMode>;

export const ResourceWriteParams = Type.Object(
  {
    channel: RootChannel,
    uri: URI,
    data: Type.String(),
    encoding: ContentEncoding,
    contentType: Type.Optional(Type.String()),
    createOnly: Type.Optional(Type.Boolean()),
    mode: Type.Optional(ResourceWriteMode),
    position: Type.Optional(Type.Number()),
    ifMatch: Type.Optional(Type.String()),
  },
  { $id: 'ResourceWriteParams', description: 'Writes a file: whole, cut, appended or inserted.' },
);
export type ResourceWriteParams = Static<typeof ResourceWriteParams>;

export const ResourceWriteResult = Type.Object({}, { $id: 'ResourceWriteResult', description: 'Written.' });
export type ResourceWriteResult = Static<typeof ResourceWriteResult>;
