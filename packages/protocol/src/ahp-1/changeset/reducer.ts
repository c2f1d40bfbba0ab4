/** How a changeset changes. */
import { withElement, withMembers } from '../../reducing.js';
import { reducerOf, sameWhenEqual, upserted, withOptional, without } from '../reducing.js';
import type { ChangesetActionMap } from './actions.js';
import type { ChangesetState } from './state.js';

const idOf = ({ id }: { id: string }) => id;

export const changesetReducer = reducerOf<ChangesetState, ChangesetActionMap>({
  'changeset/statusChanged': (state, { status, error }) =>
    withMembers(withOptional(state, 'error', status === 'error' ? error : undefined), { status }),

  'changeset/fileSet': (state, { file }) => withMembers(state, { files: upserted(state.files, file, idOf) }),

  'changeset/fileRemoved': (state, { fileId }) => withMembers(state, { files: without(state.files, fileId, idOf) }),

  'changeset/filesReviewChanged': (state, { files: ids, reviewed }) => {
    const files = state.files.map((file) => (ids.includes(file.id) ? withMembers(file, { reviewed }) : file));
    return withMembers(state, { files: sameWhenEqual(state.files, files) });
  },

  'changeset/contentChanged': (state, { files, operations, error }) =>
    withMembers(withOptional(state, 'error', error), { files, ...(operations && { operations }) }),

  'changeset/operationsChanged': (state, { operations }) => withOptional(state, 'operations', operations),

  'changeset/operationStatusChanged': (state, { operationId, status, error }) => {
    const { operations = [] } = state;
    const index = operations.findIndex(({ id }) => id === operationId);
    const operation = operations[index];
    if (!operation) return state;
    const reported = withOptional(operation, 'error', status === 'error' ? error : undefined);
    return withMembers(state, { operations: withElement(operations, index, withMembers(reported, { status })) });
  },

  'changeset/cleared': (state) => (state.files.length ? { ...state, files: [] } : state),
});
