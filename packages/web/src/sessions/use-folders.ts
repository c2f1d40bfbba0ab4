/** The folders beside and below what was typed, as far as the host tells. */
import type { Client } from '@atrium/client';
import { useEffect, useState } from 'react';
import { useHost } from '../host/context.js';
import { uriOf } from '../model/format.js';

const WAIT_MS = 200;
const SHOWN_MAX = 50;
/** Hosts that said once that they do not list folders are not asked again. */
const silent = new WeakSet<Client>();

export function useFolders(path: string, isWanted: boolean): readonly string[] {
  const { client } = useHost();
  const [folders, setFolders] = useState<readonly string[]>([]);
  const parent = parentOf(path);
  useEffect(() => {
    const uri = uriOf(parent);
    if (!isWanted || uri === undefined || silent.has(client)) return;
    let isOver = false;
    const timer = setTimeout(async () => {
      const found = await list(client, uri, parent);
      if (!isOver) setFolders(found);
    }, WAIT_MS);
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [client, parent, isWanted]);
  return folders;
}

async function list(client: Client, uri: string, parent: string): Promise<string[]> {
  try {
    const { entries } = await client.request('resourceList', { uri });
    const folders = entries.filter(({ type, name }) => type === 'directory' && !name.startsWith('.'));
    return folders.slice(0, SHOWN_MAX).map(({ name }) => `${parent}${name}/`);
  } catch (error) {
    if (error instanceof Error && error.name === 'MethodNotFound') silent.add(client);
    return [];
  }
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1);
}
