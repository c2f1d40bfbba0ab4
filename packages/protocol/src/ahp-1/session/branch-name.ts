/** The name of a worktree's branch, from words of a person. */

/** The property of a new session's configuration with the name of the branch that its worktree makes. */
export const NEW_BRANCH_PROPERTY = 'newBranch';

const NAME_MAX_CHARACTERS = 40;
/** The beginning of a message says enough. */
const WORDS_MAX = 6;
const OWN = 'atrium';

/** `Fix the *login* form!` becomes `fix-the-login-form`; a slash stays. Undefined when nothing is left. */
export function branchName(words: string): string | undefined {
  const parts = words
    .slice(0, 1_000)
    .normalize('NFKD')
    .replace(/(\p{Script=Latin})\p{M}+/gu, '$1')
    .normalize('NFC')
    .toLowerCase()
    .trim()
    .split('/')
    .map((part) => (part.match(/[\p{L}\p{M}\p{N}]+/gu) ?? []).slice(0, WORDS_MAX).join('-'))
    .filter((part) => part !== '');
  const name = parts.slice(0, 3).join('/');
  const letters = [...name];
  const short =
    letters.length <= NAME_MAX_CHARACTERS
      ? name
      : letters
          .slice(0, NAME_MAX_CHARACTERS)
          .join('')
          .replace(/[-/][^-/]*$/, '');
  return short === '' ? undefined : short;
}

/** With the host's own folder of branches in front, unless the person named one. */
export function ownBranch(name: string): string {
  return name.includes('/') ? name : `${OWN}/${name}`;
}

/** The first line of a message, without addresses of files, as words for a branch. */
export function branchWords(message: string): string {
  const line = message.trim().split('\n', 1)[0] ?? '';
  return line.replace(/[@#]\S+|https?:\S+/g, ' ').replaceAll('/', ' ');
}
