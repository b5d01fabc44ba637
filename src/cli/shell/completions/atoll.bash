# Completion of atoll for bash.
_atoll_options() { "$1" "$2" --help 2>&1 | grep -oE -- '(^|[ ,[|(])--?[a-z][a-z-]*' | tr -d ' ,[|(' | sort -u; }
_atoll() {
    local atoll=${COMP_WORDS[0]} command=${COMP_WORDS[1]} word=$2 previous=$3 each
    COMPREPLY=()
    if [ "$COMP_CWORD" -eq 1 ]; then
        COMPREPLY=($(compgen -W "$("$atoll" --help | sed -n 's/^  atoll \([a-z]*\) .*/\1/p') --help --version" -- "$word"))
        return
    fi
    # All words behind the program belong to the program.
    for each in "${COMP_WORDS[@]:2:COMP_CWORD-2}"; do
        case $command:$each in run:-m | run:*.py | run:*/*) return ;; esac
    done
    case $previous in --bind) COMPREPLY=($(compgen -W "core none" -- "$word")); return ;; esac
    case $command:$word in
        *:-*) COMPREPLY=($(compgen -W "$(_atoll_options "$atoll" "$command")" -- "$word")) ;;
        completion:*) COMPREPLY=($(compgen -W "bash zsh fish" -- "$word")) ;;
        top:* | stacks:* | record:*)
            COMPREPLY=($(compgen -W "$("$atoll" ps 2>/dev/null | sed -n 's/^job \([0-9]*\):.*/\1/p')" -- "$word")) ;;
    esac
}
complete -o bashdefault -o default -F _atoll atoll
