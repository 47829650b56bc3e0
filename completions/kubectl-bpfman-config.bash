# bash completion of kubectl-bpfman-config. `kubectl bpfman config` is completed by kubectl's own script, which asks
# kubectl_complete-bpfman-config.

_kubectl_bpfman_config() {
    local words=() word join="" count=0 i line lines=() last prefix directive
    # Bash splits words at = and :, also in --output=json and in the names of contexts: put them together again.
    for ((i = 1; i <= COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        if [[ $count -gt 0 && ($word == [=:]* || -n $join) ]]; then
            words[count - 1]+=$word
            if [[ $word == *[=:] ]]; then join=1; else join=""; fi
        else
            words[count]=$word
            count=$((count + 1))
        fi
    done
    last=${words[count - 1]}
    prefix=${last%"${last##*[=:]}"}
    while IFS= read -r line; do lines+=("$line"); done < <("${COMP_WORDS[0]}" __complete "${words[@]}" 2>/dev/null)
    COMPREPLY=()
    directive=0
    for line in "${lines[@]}"; do
        if [[ $line == :[0-9]* ]]; then
            directive=${line#:}
        else
            line=${line%%$'\t'*}
            COMPREPLY+=("${line#"$prefix"}")
        fi
    done
    word=${last##*[=:]}
    case $directive in
    0) compopt -o filenames 2>/dev/null && while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "$word") ;;
    16) compopt -o filenames 2>/dev/null && while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -d -- "$word") ;;
    esac
}

complete -F _kubectl_bpfman_config kubectl-bpfman-config kubectl-bpfman_config
