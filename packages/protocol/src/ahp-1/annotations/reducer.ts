/** How the annotations of a session change. */
import { withElement, withMembers } from '../../reducing.js';
import { present, reducerOf, upserted, without } from '../reducing.js';
import type { AnnotationsActionMap } from './actions.js';
import type { Annotation, AnnotationsState } from './state.js';

const idOf = ({ id }: { id: string }) => id;

export const annotationsReducer = reducerOf<AnnotationsState, AnnotationsActionMap>({
  'annotations/set': (state, { annotation }) =>
    withMembers(state, { annotations: upserted(state.annotations, annotation, idOf) }),

  'annotations/updated': (state, { annotationId, origin, turnId, resource, range, resolved }) =>
    withAnnotation(state, annotationId, (annotation) => {
      const moved = origin ?? (turnId === undefined ? undefined : withMembers(annotation.origin, { turnId }));
      return withMembers(annotation, present({ origin: moved, resource, range, resolved }));
    }),

  'annotations/removed': (state, { annotationId }) =>
    withMembers(state, { annotations: without(state.annotations, annotationId, idOf) }),

  'annotations/entrySet': (state, { annotationId, entry }) =>
    withAnnotation(state, annotationId, (annotation) =>
      withMembers(annotation, { entries: upserted(annotation.entries, entry, idOf) }),
    ),

  'annotations/entryRemoved': (state, { annotationId, entryId }) =>
    withAnnotation(state, annotationId, (annotation) =>
      withMembers(annotation, { entries: without(annotation.entries, entryId, idOf) }),
    ),
});

function withAnnotation(
  state: AnnotationsState,
  annotationId: string,
  change: (annotation: Annotation) => Annotation,
): AnnotationsState {
  const { annotations } = state;
  const index = annotations.findIndex(({ id }) => id === annotationId);
  const annotation = annotations[index];
  return annotation ? withMembers(state, { annotations: withElement(annotations, index, change(annotation)) }) : state;
}
