/** What is behind a view: where its files come from, and what can be done with them. */
import type { ChangesetFile, ChangesetOperation, ErrorInfo, TextRange } from '@atrium/protocol';
import type { BytePath } from '../../git/byte-path.js';

export interface Shown {
  readonly files: readonly ShownFile[];
  readonly operations: readonly ChangesetOperation[];
  /** Why this is not all, or nothing at all. */
  readonly problem?: ErrorInfo;
}

export interface ShownFile {
  readonly file: ChangesetFile;
  /** A renamed file has two. */
  readonly paths: readonly BytePath[];
}

/** What an operation is about; all files when it is absent. */
export interface OperationTarget {
  readonly paths: readonly BytePath[];
  readonly lines?: { readonly side: 'before' | 'after'; readonly range: TextRange };
}

export interface ViewSource {
  /** People can change it without anybody telling us: it has to be looked at again and again. */
  readonly isOpenToAll: boolean;
  show(): Promise<Shown>;
  /** Does it; what it returns is told to who asked. Fails with a `RequestError` when nothing was done. */
  run(operationId: string, target: OperationTarget | undefined): Promise<string>;
}

export function incomplete(why: string): ErrorInfo {
  return { errorType: 'incomplete', message: `This may not be everything: ${why}.` };
}
