/** Handles of children. They stay the same when a container is read again, so that toggles keep their meaning. */

/** `declaration` tells several declarations of one file apart. */
export function childId(containerId: string, uri: string, declaration?: string): string {
  const base = `${containerId}:${uri}`.replaceAll('#', '%23');
  return declaration === undefined ? base : `${base}#${declaration}`;
}
