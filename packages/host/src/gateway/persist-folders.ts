/**
 * Folders of their own for providers that run on this machine. Different providers may have the same name: one of the
 * host's, and one in each project. The folder belongs to one of them, and is the same one when it comes again.
 */
import { createHash } from 'node:crypto';
import path from 'node:path';
import { grantOf } from '@atrium/protocol/provider';
import { folderOf } from '../core/sessions/agent-opener.js';
import { makeFolderSync } from '../folders.js';
import type { Provider } from './provider.js';

/** Of a digest, enough that no two are alike. */
const DIGEST_CHARACTERS = 16;

export class PersistFolders {
  readonly #known = new WeakMap<Provider, string>();

  /** `base` is where they all are; without one nobody has any. */
  constructor(private readonly base: string | undefined) {}

  /** Undefined for a provider that may not leave files. Made when it first comes. */
  of(provider: Provider): string | undefined {
    if (this.base === undefined || !grantOf('fileResults', provider.trust)) return undefined;
    const folder = this.#known.get(provider) ?? path.join(this.base, nameFor(provider));
    if (!this.#known.has(provider)) makeFolderSync(folder, { mode: 0o700 });
    this.#known.set(provider, folder);
    return folder;
  }
}

/** The name is for people; what tells them apart also where file names know no upper case is the digest. */
function nameFor(provider: Provider): string {
  const { name, trust } = provider;
  const text = JSON.stringify([trust, homeOf(provider) ?? null, name]);
  return `${name}-${createHash('sha256').update(text).digest('hex').slice(0, DIGEST_CHARACTERS)}`;
}

/** A provider of a project is at home in the project's folder, in whatever session it runs. */
function homeOf({ trust, scope, bindings }: Provider): string | undefined {
  if (trust !== 'project') return undefined;
  const [binding] = bindings.values();
  return (binding && folderOf(binding.state)) ?? scope;
}
