/** Where rules are kept beside those of one session: the host implements it with files. */
import type { RuleEffect, WritableScope } from '@atrium/protocol/ahp-1';
import type { Rule } from './rules.js';

export interface StoredRules {
  readonly rules: readonly Rule[];
  /** Whether a person has trusted the first folder. */
  readonly isTrusted: boolean;
}

export interface PermissionStore {
  /** The rules that count in these folders: of the host, the person and the project. At once where no trust is asked for. */
  rulesFor(folders: readonly string[], asksTrust: boolean): StoredRules | Promise<StoredRules>;
  /** Where rules for a session in these folders can be written, besides the session itself. */
  writable(folders: readonly string[]): readonly Exclude<WritableScope, 'session'>[];
  /** Adds rules as they are. Throws an error for people when they cannot be stored. */
  add(place: RulePlace, texts: readonly string[]): Promise<void>;
  /** These rules decided about a call. `owner`: the session, for rules of its own. */
  used(rules: readonly Rule[], owner: string, folders: readonly string[]): void;
}

export interface RulePlace {
  readonly scope: Exclude<WritableScope, 'session'>;
  readonly effect: RuleEffect;
  readonly folders: readonly string[];
}
