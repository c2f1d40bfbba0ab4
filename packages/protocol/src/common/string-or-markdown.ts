import { type Static, Type } from 'typebox';

export const StringOrMarkdown = Type.Union(
  [Type.String(), Type.Object({ markdown: Type.String({ description: 'Markdown.' }) })],
  {
    $id: 'StringOrMarkdown',
    description: 'Text for people: a plain string is shown literally, an object is rendered as Markdown.',
  },
);
export type StringOrMarkdown = Static<typeof StringOrMarkdown>;
