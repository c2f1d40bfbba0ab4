/** The actions of the annotations channel. */
import { type Static, Type } from 'typebox';
import { TextRange, URI } from '../common/types.js';
import { Annotation, AnnotationEntry, AnnotationOrigin } from './state.js';

export const AnnotationsSetAction = Type.Object(
  { type: Type.Literal('annotations/set'), annotation: Annotation },
  { $id: 'AnnotationsSetAction', description: 'An annotation was added, or replaced as a whole.' },
);
export type AnnotationsSetAction = Static<typeof AnnotationsSetAction>;

export const AnnotationsUpdatedAction = Type.Object(
  {
    type: Type.Literal('annotations/updated'),
    annotationId: Type.String(),
    origin: Type.Optional(AnnotationOrigin),
    turnId: Type.Optional(Type.String({ description: 'The spelling before 0.9: another turn of the same origin.' })),
    resource: Type.Optional(URI),
    range: Type.Optional(TextRange),
    resolved: Type.Optional(Type.Boolean()),
  },
  { $id: 'AnnotationsUpdatedAction', description: 'Members of an annotation changed; the others stay.' },
);
export type AnnotationsUpdatedAction = Static<typeof AnnotationsUpdatedAction>;

export const AnnotationsRemovedAction = Type.Object(
  { type: Type.Literal('annotations/removed'), annotationId: Type.String() },
  { $id: 'AnnotationsRemovedAction', description: 'An annotation was removed.' },
);
export type AnnotationsRemovedAction = Static<typeof AnnotationsRemovedAction>;

export const AnnotationsEntrySetAction = Type.Object(
  { type: Type.Literal('annotations/entrySet'), annotationId: Type.String(), entry: AnnotationEntry },
  { $id: 'AnnotationsEntrySetAction', description: 'A note was added to an annotation, or replaced.' },
);
export type AnnotationsEntrySetAction = Static<typeof AnnotationsEntrySetAction>;

export const AnnotationsEntryRemovedAction = Type.Object(
  { type: Type.Literal('annotations/entryRemoved'), annotationId: Type.String(), entryId: Type.String() },
  { $id: 'AnnotationsEntryRemovedAction', description: 'A note was removed from an annotation.' },
);
export type AnnotationsEntryRemovedAction = Static<typeof AnnotationsEntryRemovedAction>;

/** Every action of the annotations channel, by its type. */
export const annotationsActions = {
  'annotations/set': AnnotationsSetAction,
  'annotations/updated': AnnotationsUpdatedAction,
  'annotations/removed': AnnotationsRemovedAction,
  'annotations/entrySet': AnnotationsEntrySetAction,
  'annotations/entryRemoved': AnnotationsEntryRemovedAction,
} as const;

export type AnnotationsActionType = keyof typeof annotationsActions;
export type AnnotationsActionMap = { [Type in AnnotationsActionType]: Static<(typeof annotationsActions)[Type]> };
export type AnnotationsAction = AnnotationsActionMap[AnnotationsActionType];
