/** Names that a file system may take for one another: what is protected must be so under every spelling. */

/** Some file systems look past these characters altogether. */
const UNSEEN = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g;
/** Others drop these at the end of a name, and what follows a colon names a part of the file. */
const DROPPED = /(:.*|[. ]+)$/;

/** `.GIT`, `.git.` and `.g<unseen>it` are one name. */
export function foldedName(name: string): string {
  return name.replace(UNSEEN, '').normalize('NFKC').toLowerCase().replace(DROPPED, '');
}

/** What Git finds in its folder it may run: a hook, a file system monitor. */
export function isInGit(names: readonly string[]): boolean {
  return names.some((name) => {
    const folded = foldedName(name);
    // The second is how old Windows programs call the first.
    return folded === '.git' || folded === 'git~1';
  });
}
