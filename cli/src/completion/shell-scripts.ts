export const SHELLS = ['bash', 'zsh', 'fish'] as const;

/**
 * Each script asks `hw __complete <words>`. It gets one candidate per line, with a description
 * after a tab, or `:files`.
 */
const SCRIPTS: Readonly<Record<(typeof SHELLS)[number], string>> = {
  bash: `_hw() {
  local line tab=$'\\t'
  COMPREPLY=()
  while IFS= read -r line; do
    if [[ $line == :files ]]; then
      compopt -o default
      COMPREPLY=()
      return
    fi
    COMPREPLY+=("\${line%%$tab*}")
  done < <("\${COMP_WORDS[0]}" __complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _hw hw`,
  zsh: `_hw() {
  local -a lines
  lines=("\${(@f)$(\${words[1]} __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ \${lines[1]} == ':files' ]]; then
    _files
    return
  fi
  local -a described
  local line word means tab=$'\\t'
  for line in $lines; do
    [[ -n $line ]] || continue
    word=\${\${line%%\${tab}*}//:/\\\\:} means=\${line#*\${tab}}
    described+=("$word\${means:+:$means}")
  done
  _describe hw described
}
compdef _hw hw`,
  fish: `function __hw_complete
  set -l words (commandline -opc)
  set -l lines ($words[1] __complete $words[2..-1] (commandline -ct) 2>/dev/null)
  if test "$lines[1]" = ':files'
    __fish_complete_path (commandline -ct)
  else
    printf '%s\\n' $lines
  end
end
complete -c hw -f -a '(__hw_complete)'`,
};

export function completionScript(shell: (typeof SHELLS)[number]): string {
  return SCRIPTS[shell];
}
