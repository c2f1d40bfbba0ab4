/** The repository of each folder. Asks the host again when sessions work in other folders. */
import { type FolderProjects, PROJECTS_METHOD, type SessionSummary } from '@atrium/protocol/ahp-1';
import { useEffect } from 'react';
import { useHost } from '../host/context.js';
import { isAtrium } from '../host/extensions.js';
import { Store, useStore } from '../model/store.js';

const known = new Store<FolderProjects>({});

export function useProjects(sessions: readonly SessionSummary[]): FolderProjects {
  const { client } = useHost();
  const folders = [...new Set(sessions.map(({ workingDirectories }) => workingDirectories?.[0] ?? ''))]
    .sort()
    .join('\n');
  useEffect(() => {
    if (folders === '' || !isAtrium(client)) return;
    client.requestExtension(PROJECTS_METHOD).then(
      (answer) => known.set((answer as { folders?: FolderProjects }).folders ?? {}),
      // Without an answer the list groups sessions by their folders.
      () => {},
    );
  }, [client, folders]);
  return useStore(known);
}
