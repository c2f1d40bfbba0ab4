/** Stores the rules outside of sessions; the host implements it with files. */
import type { RuleEffect, WritableScope } from '@atrium/protocol/ahp-1';
import type { Rule } from './rules.js';

export interface StoredRules {
  readonly rules: readonly Rule[];
  /** True when a person has trusted the first folder. */
  readonly isTrusted: boolean;
}

export interface PermissionStore {
  /**
   * The rules of the host, the person and the project for these folders. Synchronous unless trust has to be looked up.
   */
  rulesFor(folders: readonly string[], asksTrust: boolean): StoredRules | Promise<StoredRules>;
  /** Where rules for a session in these folders can be written, apart from the session itself. */
  writable(folders: readonly string[]): readonly Exclude<WritableScope, 'session'>[];
  /** Adds rules as given. Throws an error for people when they cannot be stored. */
  add(place: RulePlace, texts: readonly string[]): Promise<void>;
  /** Called when these rules decided about a call. `owner` is the session, for its own rules. */
  used(rules: readonly Rule[], owner: string, folders: readonly string[]): void;
}

export interface RulePlace {
  readonly scope: Exclude<WritableScope, 'session'>;
  readonly effect: RuleEffect;
  readonly folders: readonly string[];
}
