/** What may be done below each kind of root. */

import { foldedName, isInGit } from '../../core/util/folded-name.js';
import { holdsForeign, isSavedForUser, isSavedInProject } from '../../plugins/customizations/sources/directories.js';
import type { Access, RootKind } from './roots.js';

/** A session's folder: everything, but what Git or the host would run, and customizations that are not ours to write. */
export const workingFolder: RootKind = {
  rule: (names) => (isInGit(names) || isSavedInProject(names) === false ? 'read' : 'write'),
  directory: (names) => (isSavedInProject(names) ? names.map(foldedName).indexOf('.agents') + 2 : undefined),
  holdsClosed: holdsForeign,
};

/** Where people look for a folder to work in: names, and nothing that begins with a dot, for secrets are kept there. */
export const browsedFolder: RootKind = {
  rule: (names) => (names.some((name) => name.startsWith('.')) ? undefined : 'list'),
};

/** The user's own customizations: those that clients may save, and nothing beside them. */
export const userFolder: RootKind = {
  rule: (names) => {
    if (isSavedForUser(names)) return 'write';
    return isSavedForUser([...names, 'any']) ? 'read' : undefined;
  },
  directory: (names) => (isSavedForUser(names) ? 1 : undefined),
};

/** A directory of customizations that an agent declares as its own, and as writable. */
export const declaredDirectory: RootKind = { rule: () => 'write', directory: () => 0 };

/** What a person granted. */
export function grantedPlace(access: Access): RootKind {
  return { rule: (names) => (isInGit(names) && access === 'write' ? 'read' : access) };
}
