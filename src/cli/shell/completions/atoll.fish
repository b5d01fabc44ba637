# Completion of atoll for fish.
function __atoll_options
    set -l command (commandline -opc)[2]
    atoll $command --help 2>&1 | grep -oE -- '(^|[ ,[|(])--?[a-z][a-z-]*' | tr -d ' ,[|(' | sort -u
end
function __atoll_command
    set -l words (commandline -opc)
    test (count $words) -gt 1; and contains -- $words[2] $argv
end
# All words behind the program belong to the program.
function __atoll_before_program
    set -l words (commandline -opc)
    test (count $words) -gt 1; or return 1
    test $words[2] = run; or return 0
    not string match -q -r -- '^-m$|\.py$|/' $words[3..]
end
complete -c atoll -f -n 'test (count (commandline -opc)) -eq 1' -a "(atoll --help | sed -n 's/^  atoll \([a-z]*\) *\(.*\)/\1\t\2/p')"
complete -c atoll -n '__atoll_before_program; and string match -q -- "-*" (commandline -ct)' -a '(__atoll_options)'
complete -c atoll -f -n '__atoll_command completion' -a 'bash zsh fish'
complete -c atoll -f -n '__atoll_command top stacks record' -a "(atoll ps 2>/dev/null | sed -n 's/^job \([0-9]*\):.*/\1/p')"
