import { type Static, Type } from 'typebox';
import { URI } from '../../common/uri.js';
import { MapOf } from '../../schema/define.js';

export const SystemMessageSectionContent = Type.Object(
  { content: Type.String({ description: 'The text.' }) },
  {
    $id: 'SystemMessageSectionContent',
    description: 'The text of a prompt section. Opaque: its layout may change between renders.',
  },
);
export type SystemMessageSectionContent = Static<typeof SystemMessageSectionContent>;

export const SystemMessageTransformParams = Type.Object(
  { channel: URI, sections: MapOf(SystemMessageSectionContent) },
  {
    $id: 'SystemMessageTransformParams',
    description: 'The host hands rendered prompt sections to the active client.',
  },
);
export type SystemMessageTransformParams = Static<typeof SystemMessageTransformParams>;

export const SystemMessageTransformResult = Type.Object(
  { sections: MapOf(SystemMessageSectionContent) },
  {
    $id: 'SystemMessageTransformResult',
    description: 'The sections that the client rewrote; all others stay as they were.',
  },
);
export type SystemMessageTransformResult = Static<typeof SystemMessageTransformResult>;
