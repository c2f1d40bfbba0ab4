/** How a changeset changes. */
import { reducerOf, withElement, withMembers, withoutMember } from '../reducing.js';
import type { ChangesetActionMap } from './actions.js';
import type { ChangesetState } from './state.js';

export const changesetReducer = reducerOf<ChangesetState, ChangesetActionMap>({
  'changeset/statusChanged': (state, { status, error }) =>
    status === 'error'
      ? withMembers(state, { status, error })
      : withMembers<ChangesetState>(withoutMember(state, 'error'), { status }),

  'changeset/fileSet': (state, { file }) => {
    const index = state.files.findIndex(({ id }) => id === file.id);
    const files = index < 0 ? [...state.files, file] : withElement(state.files, index, file);
    return withMembers(state, { files });
  },

  'changeset/fileRemoved': (state, { fileId }) => {
    const index = state.files.findIndex(({ id }) => id === fileId);
    return index < 0 ? state : { ...state, files: state.files.toSpliced(index, 1) };
  },

  'changeset/operationsChanged': (state, { operations }) =>
    operations ? withMembers(state, { operations }) : withoutMember(state, 'operations'),

  'changeset/cleared': (state) => (state.files.length ? { ...state, files: [] } : state),
});
