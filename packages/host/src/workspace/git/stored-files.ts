/**
 * Contents of files that Git stores, either with the line endings that they have on disk, or as stored. Filters that
 * are programs are not run. One run of Git returns many files: a turn may switch branches, and a run for each file
 * would take minutes.
 */
import { randomUUID } from 'node:crypto';
import type { BytePath } from './byte-path.js';
import { GIT_CONTENTS_MAX_BYTES, type GitRun, git } from './git.js';
import type { Repository } from './repository.js';

export interface TrackedFile {
  readonly path: BytePath;
  readonly oid: string;
}

/** Line endings or another encoding can make a file larger than its stored form, but never by more than this factor. */
const GROWTH_MAX = 4;
const HEADER_MAX_BYTES = 200;

export interface ContentsRequest extends Pick<GitRun, 'signal'> {
  /** Larger files are left out. */
  readonly maxBytes: number;
  readonly as: 'on-disk' | 'stored';
}

/** The content of one file as it is on disk; undefined when it is too large or does not exist. */
export async function trackedContent(repository: Repository, file: TrackedFile): Promise<Buffer | undefined> {
  const request = { maxBytes: GIT_CONTENTS_MAX_BYTES, as: 'on-disk' } as const;
  for await (const [, bytes] of trackedContents(repository, [file], request)) return bytes;
  return undefined;
}

/** In no particular order. The content is undefined when it is too large or does not exist. */
export async function* trackedContents<F extends TrackedFile>(
  repository: Repository,
  files: readonly F[],
  request: ContentsRequest,
): AsyncGenerator<[F, Buffer | undefined]> {
  const sizes = await sizesOf(repository, files, request);
  let [group, bytes]: [F[], number] = [[], 0];
  for (const file of files) {
    const size = sizes.get(file.oid);
    if (size === undefined || size > request.maxBytes) {
      yield [file, undefined];
      continue;
    }
    if (bytes + size > GIT_CONTENTS_MAX_BYTES) {
      yield* together(repository, { files: group, bytes }, request);
      [group, bytes] = [[], 0];
    }
    group.push(file);
    bytes += size;
  }
  yield* together(repository, { files: group, bytes }, request);
}

async function sizesOf({ folder }: Repository, files: readonly TrackedFile[], { signal }: ContentsRequest) {
  if (files.length === 0) return new Map<string, number>();
  const input = files.map(({ oid }) => `${oid}\n`).join('');
  const output = await git(folder, ['cat-file', '--batch-check'], { ...(signal && { signal }), input });
  const lines = output.toString('latin1').split('\n');
  return new Map(
    lines.flatMap((line): [string, number][] => {
      const [oid = '', type, size] = line.split(' ');
      return type === 'blob' ? [[oid, Number(size)]] : [];
    }),
  );
}

interface Group<F> {
  readonly files: readonly F[];
  readonly bytes: number;
}

/**
 * Git reports the size of a content in the repository, not on disk. So after each file Git is asked for one that does
 * not exist, under a name that no file can know: its answer to that marks the end of the content.
 */
async function* together<F extends TrackedFile>(
  { folder, prefix, noPrograms }: Repository,
  { files, bytes }: Group<F>,
  { as, signal }: ContentsRequest,
): AsyncGenerator<[F, Buffer | undefined]> {
  if (files.length === 0) return;
  const mark = randomUUID();
  const isStored = as === 'stored';
  const asked = files.map(({ oid, path }) =>
    isStored ? `${oid}\n${mark}\n` : `${oid} ${shown(prefix + path)}\n${mark} -\n`,
  );
  const output = await git(folder, [...noPrograms, 'cat-file', '--batch', ...(isStored ? [] : ['--filters'])], {
    ...(signal && { signal }),
    input: Buffer.from(asked.join(''), 'latin1'),
    maxBytes: GROWTH_MAX * bytes + HEADER_MAX_BYTES * files.length,
  });
  const end = Buffer.from(`\n${mark} missing\n`);
  let at = 0;
  for (const file of files) {
    const start = output.indexOf('\n', at) + 1;
    const stop = output.indexOf(end, start - 1);
    // If there is no content, the line that says so ends where the mark begins.
    yield [file, stop < start ? undefined : output.subarray(start, stop)];
    if (stop < 0) return;
    at = stop + end.length;
  }
}

/**
 * The list has one name per line. A name with a line break is replaced by another: it only decides the line endings.
 */
function shown(path: BytePath): BytePath {
  return path.replaceAll('\n', ' ');
}
