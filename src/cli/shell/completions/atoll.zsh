#compdef atoll
# Completion of atoll for zsh.
_atoll() {
    local atoll=$words[1] command=$words[2] each
    local -a found
    if (( CURRENT == 2 )); then
        found=(${(f)"$($atoll --help | sed -n 's/^  atoll \([a-z]*\) *\(.*\)/\1:\2/p')"})
        _describe command found
        return
    fi
    for each in $words[3,CURRENT-1]; do  # all words behind the program belong to the program
        case $command:$each in run:-m | run:*.py | run:*/*) _files; return ;; esac
    done
    if [[ $words[CURRENT-1] == --bind ]]; then
        compadd core none
    elif [[ $PREFIX == -* ]]; then
        found=(${(f)"$($atoll $command --help 2>&1 | grep -oE -- '(^|[ ,[|(])--?[a-z][a-z-]*' | tr -d ' ,[|(' | sort -u)"})
        compadd -- $found
    elif [[ $command == completion ]]; then
        compadd bash zsh fish
    elif [[ $command == (top|stacks|record) ]]; then
        compadd -- ${=$($atoll ps 2>/dev/null | sed -n 's/^job \([0-9]*\):.*/\1/p')}
    else
        _files
    fi
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
    _atoll "$@"    # found in fpath
else
    compdef _atoll atoll
fi
