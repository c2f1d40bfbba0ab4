/** `/stage`, `/unstage` and `/commit`: operations on what is not committed, as the panel of changes offers them. */
import type { ChangesetFile, ChangesetState } from '@atrium/protocol/ahp-1';
import type { OpenSession } from '../host/open-session.js';
import { expectingQuestion } from '../questions/expected.js';
import { fileUri } from './file-state.js';
import { changesetsOf, wholeViews } from './views.js';

/** A large repository takes a while. */
const READY_MAX_MS = 30_000;
const UNCOMMITTED = 'uncommitted';

/** Runs an operation on one file, or on all of them. Returns the host's words. */
export async function runOperation(session: OpenSession, operationId: string, file: string): Promise<string> {
  const view = wholeViews(changesetsOf(session.state, session.chat)).find(
    ({ changeKind }) => changeKind === UNCOMMITTED,
  );
  if (!view) return 'There is nothing to commit here: the session works in no Git repository.';
  const channel = view.uriTemplate;
  const { operations = [], files, error } = await readChangeset(session, channel);
  const operation = operations.find(({ id }) => id === operationId);
  if (!operation) return error?.message ?? 'There is nothing that is not committed.';
  const target = file === '' ? undefined : targetOf(files, file);
  if (file !== '' && !target) return `No changed file is called ${file}.`;
  const params = { channel, operationId, ...(target && { target }) };
  const run = () => session.client.request('invokeChangesetOperation', params);
  const { message } = await expectingQuestion(session, run);
  return typeof message === 'string' ? message : (message?.markdown ?? `${operation.label}: accepted.`);
}

async function readChangeset({ client }: OpenSession, channel: string): Promise<ChangesetState> {
  const changeset = await client.subscribe(channel, { kind: 'changeset' });
  const isReady = () => changeset.state.status !== 'computing';
  try {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, READY_MAX_MS);
      const off = changeset.onChange(() => isReady() && end());
      const end = () => {
        clearTimeout(timer);
        off();
        resolve();
      };
      if (isReady()) end();
    });
    return changeset.state;
  } finally {
    changeset.close();
  }
}

/** The only changed file whose path ends with these words. */
function targetOf(files: readonly ChangesetFile[], file: string) {
  const wanted = `/${file.replace(/^\.?\//, '')}`;
  const uris = files.map(({ edit }) => fileUri(edit)).filter((uri) => pathOf(uri).endsWith(wanted));
  return uris[0] !== undefined && uris.length === 1 ? { kind: 'resource' as const, resource: uris[0] } : undefined;
}

function pathOf(uri: string): string {
  try {
    return decodeURIComponent(uri);
  } catch {
    return uri;
  }
}
