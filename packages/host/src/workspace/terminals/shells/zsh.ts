/**
 * The files that zsh finds instead of the user's own. Each reads the user's file first, and the last one puts everything
 * back in its place: after it, nothing of this is left but two hooks.
 */
const ZSHENV = String.raw`
__atrium_folder=$ZDOTDIR
if [[ -n $ATRIUM_TERMINAL_ZDOTDIR ]]; then export ZDOTDIR=$ATRIUM_TERMINAL_ZDOTDIR; else unset ZDOTDIR; fi
unset ATRIUM_TERMINAL_ZDOTDIR
[[ -r $\{ZDOTDIR:-$HOME}/.zshenv ]] && . $\{ZDOTDIR:-$HOME}/.zshenv
# The user's own file may have chosen another folder.
__atrium_zdotdir=$\{ZDOTDIR-}
ZDOTDIR=$__atrium_folder
`;

const ZPROFILE = String.raw`
if [[ -n $__atrium_zdotdir ]]; then ZDOTDIR=$__atrium_zdotdir; else unset ZDOTDIR; fi
[[ -r $\{ZDOTDIR:-$HOME}/.zprofile ]] && . $\{ZDOTDIR:-$HOME}/.zprofile
ZDOTDIR=$__atrium_folder
`;

const ZSHRC = String.raw`
if [[ -n $__atrium_zdotdir ]]; then export ZDOTDIR=$__atrium_zdotdir; else unset ZDOTDIR; fi
# Some systems have chosen the place of the history by now.
[[ $\{HISTFILE-} == $__atrium_folder/* ]] && HISTFILE=$\{ZDOTDIR:-$HOME}/$\{HISTFILE:t}
unset __atrium_folder __atrium_zdotdir
__atrium_nonce=$ATRIUM_TERMINAL_NONCE
unset ATRIUM_TERMINAL_NONCE
[[ -r $\{ZDOTDIR:-$HOME}/.zshrc ]] && . $\{ZDOTDIR:-$HOME}/.zshrc

if [[ -n $__atrium_nonce ]]; then
  __atrium_say() {
    builtin printf '\e]633;%s;%s\a' "$1" "$__atrium_nonce"
  }

  __atrium_escape() {
    emulate -L zsh
    local text=$\{1[1,4096]}
    text=$\{text//\\/\\\\}
    text=$\{text//;/\\x3b}
    text=$\{text//$'\n'/\\x0a}
    REPLY=$\{text//[[:cntrl:]]/}
  }

  __atrium_precmd() {
    local code=$? REPLY
    __atrium_say "D;$code"
    __atrium_escape "$PWD"
    __atrium_say "P;Cwd=$REPLY"
    __atrium_say A
    return $code
  }

  __atrium_preexec() {
    local REPLY
    __atrium_escape "$1"
    __atrium_say "C;sure;$REPLY"
  }

  typeset -ag precmd_functions preexec_functions
  precmd_functions=(__atrium_precmd $precmd_functions)
  preexec_functions+=(__atrium_preexec)
fi
`;

const plain = (script: string): string => script.replaceAll('$\\{', '${');

export const ZSH_FILES: Readonly<Record<string, string>> = {
  '.zshenv': plain(ZSHENV),
  '.zprofile': plain(ZPROFILE),
  '.zshrc': plain(ZSHRC),
};
