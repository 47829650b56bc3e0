# fish completion of kubectl-bpfman-config. `kubectl bpfman config` is completed by kubectl's own script, which asks
# kubectl_complete-bpfman-config.

function __kubectl_bpfman_config_complete
    set -l words (commandline -opc)
    set -l last (commandline -ct)
    for line in ($words[1] __complete $words[2..-1] $last 2>/dev/null)
        switch $line
            case ':0'
                __fish_complete_path $last
            case ':16'
                __fish_complete_directories $last
            case ':*'
            case '*'
                echo $line
        end
    end
end

for name in kubectl-bpfman-config kubectl-bpfman_config
    complete -c $name -f -a '(__kubectl_bpfman_config_complete)'
end
