/** Annotations: notes that people and agents leave on files of a session. */
import { type Static, Type } from 'typebox';
import { Meta, StringOrMarkdown, TextRange, URI } from '../common/types.js';

export const AnnotationsSummary = Type.Object(
  { resource: URI, annotationCount: Type.Number(), entryCount: Type.Number() },
  { $id: 'AnnotationsSummary', description: 'The annotations channel of a session, and how much is in it.' },
);
export type AnnotationsSummary = Static<typeof AnnotationsSummary>;

export const AnnotationEntry = Type.Object(
  { id: Type.String(), text: StringOrMarkdown, _meta: Type.Optional(Meta) },
  { $id: 'AnnotationEntry', description: 'One note in an annotation.' },
);
export type AnnotationEntry = Static<typeof AnnotationEntry>;

export const AnnotationOrigin = Type.Object(
  { session: URI, chat: Type.Optional(URI), turnId: Type.Optional(Type.String()) },
  { $id: 'AnnotationOrigin', description: 'The session, chat and turn that an annotation is about.' },
);
export type AnnotationOrigin = Static<typeof AnnotationOrigin>;

export const Annotation = Type.Object(
  {
    id: Type.String(),
    origin: AnnotationOrigin,
    resource: URI,
    range: Type.Optional(TextRange),
    resolved: Type.Boolean(),
    entries: Type.Array(AnnotationEntry, { description: 'At least one; with the last one the annotation goes.' }),
    _meta: Type.Optional(Meta),
  },
  { $id: 'Annotation', description: 'Notes on one place in a resource.' },
);
export type Annotation = Static<typeof Annotation>;

export const AnnotationsState = Type.Object(
  { annotations: Type.Array(Annotation) },
  { $id: 'AnnotationsState', description: 'All annotations of a session.' },
);
export type AnnotationsState = Static<typeof AnnotationsState>;
