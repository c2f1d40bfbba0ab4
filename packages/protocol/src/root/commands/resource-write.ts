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
    data: Type.String({ description: 'The content, written as `encoding` says.' }),
    encoding: ContentEncoding,
    contentType: Type.Optional(Type.String()),
    createOnly: Type.Optional(Type.Boolean({ description: 'Whether to refuse when the file is there already.' })),
    mode: Type.Optional(ResourceWriteMode),
    position: Type.Optional(
      Type.Number({ description: 'In bytes: from the start, or back from the end when appending.' }),
    ),
    ifMatch: Type.Optional(Type.String({ description: 'The `etag` that the file must still have.' })),
  },
  { $id: 'ResourceWriteParams', description: 'Writes a file: whole, cut, appended or inserted.' },
);
export type ResourceWriteParams = Static<typeof ResourceWriteParams>;

export const ResourceWriteResult = Type.Object({}, { $id: 'ResourceWriteResult', description: 'Written.' });
export type ResourceWriteResult = Static<typeof ResourceWriteResult>;
