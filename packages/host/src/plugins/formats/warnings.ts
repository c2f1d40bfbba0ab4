/** Warnings about a container. They never stop the loading; they make the container `degraded`. */
import type { CustomizationLoadState } from '@atrium/protocol/ahp-1';
import { WARNINGS_MAX } from './limits.js';

/** The kinds never change, so that people can search for them. */
export type WarningKind =
  | 'manifest-inconsistent'
  | 'manifest-field-invalid'
  | 'name-invalid'
  | 'path-escapes'
  | 'path-missing'
  | 'frontmatter-invalid'
  | 'required-field-missing'
  | 'duplicate-name'
  | 'skill-name-mismatch'
  | 'hook-event-unknown'
  | 'hook-action-unsupported'
  | 'hook-regex-invalid'
  | 'mcp-entry-invalid'
  | 'mcp-name-conflict'
  | 'mcp-transport-unsupported'
  | 'mcp-start-failed'
  | 'component-unsupported'
  | 'limit-exceeded';

/** `message` may reach clients, so it names places and fields but never shows commands, addresses or secrets. */
export interface Warning {
  readonly kind: WarningKind;
  readonly message: string;
  /** The file in question, relative to the container. */
  readonly path?: string;
}

/** Only information: these components are for other programs. */
const INFORMATION: ReadonlySet<WarningKind> = new Set(['component-unsupported', 'hook-event-unknown']);

function isInformation({ kind }: Warning): boolean {
  return INFORMATION.has(kind);
}

/** Collects warnings while a container is read. Adding the same warning again changes nothing. */
export class Warnings {
  readonly #warnings = new Map<string, Warning>();
  #first: Warning | undefined;
  #count = 0;

  add(kind: WarningKind, message: string, path?: string): void {
    const key = `${kind}\n${path ?? ''}\n${message}`;
    if (this.#warnings.has(key)) return;
    const warning: Warning = path === undefined ? { kind, message } : { kind, message, path };
    if (this.#warnings.size < WARNINGS_MAX) this.#warnings.set(key, warning);
    if (isInformation(warning)) return;
    this.#first ??= warning;
    this.#count += 1;
  }

  get list(): readonly Warning[] {
    return [...this.#warnings.values()];
  }

  loadState(): CustomizationLoadState {
    if (!this.#first) return { kind: 'loaded' };
    const more = this.#count - 1;
    const rest = more === 0 ? '' : ` (and ${more} more ${more === 1 ? 'warning' : 'warnings'})`;
    return { kind: 'degraded', message: `${this.#first.message}${rest}` };
  }
}

/** Ends the loading of a container; its message becomes that of the `error` state. */
export class LoadFailure extends Error {
  override readonly name = 'LoadFailure';
}
