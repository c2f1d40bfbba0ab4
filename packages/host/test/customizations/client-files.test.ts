/** The files of a plugin that a client answers for, whatever it answers. */

import type { Connection } from '@atrium/core/wire/connection.js';
import { describe, expect, it } from 'vitest';
import { clientFiles } from '../../src/plugins/customizations/client-files.js';
import { CLIENT_REQUESTS_MAX } from '../../src/plugins/formats/limits.js';

const URI = 'virtual://desk/skills';
const NAMES = ['..', '../up', 'a\\b', 'a/b', '', '.', 'deeper'];

/** A client in whose folders there is always another one. */
function bottomless() {
  const asked: string[] = [];
  const entries = NAMES.map((name) => ({ name, type: 'directory' }));
  const request = async (method: string, { uri }: { uri: string }) => {
    asked.push(uri);
    return method === 'resourceList' ? { entries } : { data: 'text' };
  };
  const connection = { request } as unknown as Connection;
  return { asked, files: clientFiles({ uri: URI, connection: () => connection }) };
}

describe('files of a client', () => {
  it('[CUS-020] [CUS-101] are asked for inside of the plugin only', async () => {
    const { asked, files } = bottomless();
    expect(await files.list('')).toEqual([{ name: 'deeper', kind: 'folder' }]);
    for (const folder of ['..', '../up', 'deeper/..', 'a\\b']) expect(await files.list(folder)).toBeUndefined();
    expect(await files.read('../secret.txt', 100)).toBeUndefined();
    expect(new Set(asked)).toEqual(new Set([URI, `${URI}/deeper`]));
  });

  it('[CUS-040] [CUS-101] are asked for so many times, and not once more', async () => {
    const { asked, files } = bottomless();
    const deep = Array.from({ length: CLIENT_REQUESTS_MAX }, (_, depth) => 'deeper/'.repeat(depth).slice(0, -1));
    for (const folder of deep) await files.list(folder);
    await expect(files.list(`${deep.at(-1)}/deeper`)).rejects.toThrow('too many files');
    expect(asked).toHaveLength(CLIENT_REQUESTS_MAX);
  });
});
