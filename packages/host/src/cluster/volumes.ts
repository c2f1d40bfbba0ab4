/**
 * Folders that all hosts share. A path means nothing on another machine, so each shared folder holds a file with a
 * random id, and the engine knows id and path. A host that finds another folder at the path does not start.
 */
import { randomBytes } from 'node:crypto';
import { readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { ClusterError } from '../log-postgres/administer.js';
import type { Engine } from '../log-postgres/engine.js';
import { isBelow } from './folder-places.js';

export const VOLUME_FILE = '.atrium-volume';
const VOLUME_ID = /^[\w-]{16}$/;
const ID_BYTES = 12;

export interface Volume {
  readonly id: string;
  readonly path: string;
}

export type VolumeState = 'seen' | 'missing' | 'another';

/** Marks a folder as shared by all hosts. A folder that is marked already keeps its id. */
export async function addVolume(engine: Engine, folder: string): Promise<Volume> {
  const place = path.resolve(folder);
  const isFolder = await stat(place).then(
    (stats) => stats.isDirectory(),
    () => false,
  );
  if (!isFolder) throw new ClusterError(`${place} is not a folder: create it first, on the disk that all hosts share`);
  const id = (await readVolumeId(place)) ?? (await mark(place));
  const [known] = await engine.run<Volume>('SELECT id, path FROM volumes WHERE path = $1', [place]);
  if (known && known.id !== id)
    throw new ClusterError(`${place} is known with another id: this is not the disk that the other hosts see there`);
  await engine.run(
    'INSERT INTO volumes (id, path) VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET path = excluded.path',
    [id, place],
  );
  return { id, path: place };
}

async function mark(folder: string): Promise<string> {
  const id = randomBytes(ID_BYTES).toString('base64url');
  await writeFile(path.join(folder, VOLUME_FILE), `${id}\n`, { flag: 'wx' });
  return id;
}

export async function listVolumes(engine: Engine): Promise<Volume[]> {
  return engine.run<Volume>('SELECT id, path FROM volumes ORDER BY path');
}

/** Whether this machine sees the same folder at that path. */
export async function volumeState({ id, path: folder }: Volume): Promise<VolumeState> {
  const found = await readVolumeId(folder);
  if (found === undefined) return 'missing';
  return found === id ? 'seen' : 'another';
}

/**
 * Returns the volumes that this machine does not see; their sessions can only be read here. Throws when another disk is
 * in the place of one, or when the volume with the common data of all hosts is missing.
 */
export async function checkVolumes(engine: Engine, sharedDir: string | undefined): Promise<Volume[]> {
  const missing: Volume[] = [];
  for (const volume of await listVolumes(engine)) {
    const state = await volumeState(volume);
    if (state === 'another')
      throw new ClusterError(`${volume.path} is not the folder that the other hosts share: mount the same one here`);
    if (state === 'seen') continue;
    if (sharedDir !== undefined && isBelow(volume.path, sharedDir))
      throw new ClusterError(`the shared folder ${volume.path} is not here, and --shared-dir is on it: mount it`);
    missing.push(volume);
  }
  return missing;
}

/** The id of a marked folder; undefined for others. */
export async function readVolumeId(folder: string): Promise<string | undefined> {
  const text = await readFile(path.join(folder, VOLUME_FILE), 'utf8').catch(() => undefined);
  const id = text?.trim();
  return id !== undefined && VOLUME_ID.test(id) ? id : undefined;
}
