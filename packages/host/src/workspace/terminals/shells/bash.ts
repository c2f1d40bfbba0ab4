/**
 * What bash is started with instead of the user's own file, which it reads first. It adds to the prompt's hooks and takes
 * nothing away: traps, history, prompt and `$?` stay as they are. `PS0` is what bash shows before it runs a command.
 */
export const BASH_FILE = 'atrium.bash';

export const BASH_SCRIPT = String.raw`
__atrium_nonce=$ATRIUM_TERMINAL_NONCE
unset ATRIUM_TERMINAL_NONCE
if [ -n "$ATRIUM_TERMINAL_LOGIN" ]; then
  unset ATRIUM_TERMINAL_LOGIN
  [ -r /etc/profile ] && . /etc/profile
  for __atrium_file in ~/.bash_profile ~/.bash_login ~/.profile; do
    [ -r "$__atrium_file" ] && { . "$__atrium_file"; break; }
  done
  unset __atrium_file
elif [ -r ~/.bashrc ]; then
  . ~/.bashrc
fi

# Older ones have no PS0, and without promptvars it would be shown as it stands.
if [ -n "$__atrium_nonce" ] && shopt -q promptvars && ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] >= 404)); then
  __atrium_before='' __atrium_number='' __atrium_line='' __atrium_escaped=''

  __atrium_say() {
    builtin printf '\e]633;%s;%s\a' "$1" "$__atrium_nonce"
  }

  __atrium_escape() {
    __atrium_escaped=$\{1:0:4096}
    __atrium_escaped=$\{__atrium_escaped//\\/\\\\}
    __atrium_escaped=$\{__atrium_escaped//;/\\x3b}
    __atrium_escaped=$\{__atrium_escaped//$'\n'/\\x0a}
    __atrium_escaped=$\{__atrium_escaped//[[:cntrl:]]/}
  }

  # The last line of the history, and its number.
  __atrium_last() {
    __atrium_line=$(HISTTIMEFORMAT='' builtin history 1 2>/dev/null)
    __atrium_line=$\{__atrium_line#"$\{__atrium_line%%[![:space:]]*}"}
    __atrium_number=$\{__atrium_line%%[!0-9]*}
    __atrium_line=$\{__atrium_line#"$__atrium_number"}
    __atrium_line=$\{__atrium_line:2}
  }

  __atrium_prompt() {
    local code=$?
    __atrium_say "D;$code"
    __atrium_escape "$PWD"
    __atrium_say "P;Cwd=$__atrium_escaped"
    __atrium_last
    __atrium_before=$__atrium_number
    __atrium_say A
    return "$code"
  }

  # Bash keeps no note of some lines: then the last one may be another.
  __atrium_run() {
    local sure=sure
    __atrium_last
    [[ $__atrium_number == "$__atrium_before" ]] && sure=perhaps
    __atrium_escape "$__atrium_line"
    __atrium_say "C;$sure;$__atrium_escaped"
  }

  PROMPT_COMMAND=__atrium_prompt$\{PROMPT_COMMAND:+$'\n'$PROMPT_COMMAND}
  PS0=$\{PS0-}'$(__atrium_run)'
fi
`.replaceAll('$\\{', '${');
