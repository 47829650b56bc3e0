# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_kubectl_bpfman_config_global_optspecs
    string join \n q/quiet= color= request-timeout= kubeconfig= context= cluster= user= s/server= token= as= as-group= as-uid= as-user-extra= certificate-authority= client-certificate= client-key= insecure-skip-tls-verify= tls-server-name= disable-compression= h/help V/version
end

function __fish_kubectl_bpfman_config_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_kubectl_bpfman_config_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_kubectl_bpfman_config_using_subcommand
    set -l cmd (__fish_kubectl_bpfman_config_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_needs_command" -s q -l quiet -d 'Print no progress and no hints' -r -f -a "true\t''
false\t''"
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_needs_command" -l color -d 'When to colour' -r -f -a "auto\t'On a terminal, unless the environment disables it'
always\t'Always, even in a file'
never\t'Never'"
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_needs_command" -l request-timeout -d 'Longest wait for one answer of the server, e.g. 30s, 1m; 0 means no limit' -r
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_needs_command" -l kubeconfig -d 'Kubeconfig file to use instead of $KUBECONFIG and ~/.kube/config' -r -F
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_needs_command" -l context -d 'Kubeconfig context to use instead of the current one' -r
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_needs_command" -l cluster -d 'Kubeconfig cluster to use instead of the context\'s' -r
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_needs_command" -l user -d 'Kubeconfig user to use instead of the context\'s' -r
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_needs_command" -s s -l server -d 'URL of the API server; https:// may be left out; credentials are sent over https:// only' -r -f
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_needs_command" -l token -d 'Bearer token; wins over every other token, password and plugin of the user. Others can see it in the list of processes' -r
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_needs_command" -l as -d 'User to impersonate' -r
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_needs_command" -l as-group -d 'Group to impersonate, may be repeated; needs --as' -r
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_needs_command" -l as-uid -d 'UID to impersonate; needs --as' -r
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_needs_command" -l as-user-extra -d 'Extra attribute to impersonate, KEY=VALUE, may be repeated; needs --as' -r
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_needs_command" -l certificate-authority -d 'Certificate file of the authority that signed the server\'s certificate' -r -F
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_needs_command" -l client-certificate -d 'Client certificate file; needs --client-key, unless the kubeconfig has the key' -r -F
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_needs_command" -l client-key -d 'Client key file; needs --client-certificate, unless the kubeconfig has the certificate' -r -F
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_needs_command" -l insecure-skip-tls-verify -d 'Do not verify the server\'s certificate: whoever sits in between can read and change everything' -r -f -a "true\t''
false\t''"
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_needs_command" -l tls-server-name -d 'Name to verify the server\'s certificate against, instead of the URL\'s' -r
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_needs_command" -l disable-compression -d 'Do not ask for compressed responses' -r -f -a "true\t''
false\t''"
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_needs_command" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_needs_command" -s V -l version -d 'Print version'
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_needs_command" -f -a "render" -d 'Print the objects that the Config becomes'
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_needs_command" -f -a "diff" -d 'Show where the cluster deviates, and who changed it'
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_needs_command" -f -a "apply" -d 'Bring the cluster to what is wanted, by server-side apply'
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_needs_command" -f -a "watch" -d 'Keep the cluster at what is wanted, until stopped'
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_needs_command" -f -a "completion" -d 'Print the completion script of a shell'
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand render" -s f -l filename -d 'File that holds the Config, - for standard input; without it the cluster\'s own is read' -r -F
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand render" -l name -d 'Name of the Config, and the field manager\'s name' -r
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand render" -l templates -d 'Directory of templates: a file there replaces the built-in one of the same name, others are added' -r -f -a "(__fish_complete_directories)"
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand render" -l platform -d 'Platform to render for; auto asks the cluster whether it serves route.openshift.io' -r -f -a "auto\t'What the cluster serves decides'
kubernetes\t'Plain Kubernetes'
openshift\t'OpenShift'"
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand render" -l monitoring -d 'Whether to render the monitoring objects; auto asks the cluster whether it serves monitoring.coreos.com' -r -f -a "auto\t'What the cluster serves decides'
on\t'Render them'
off\t'Leave them out'"
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand render" -l image-pull-policy -d 'Pull policy of all containers, as a pod has it; without it the server decides' -r
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand render" -s n -l namespace -d 'Namespace that the Config must name; a check, the Config decides' -r
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand render" -s o -l output -d 'Output format' -r -f -a "yaml\t'One YAML document an object'
json\t'A v1 List'
name\t'The objects\' names'"
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand render" -l output-dir -d 'Write one file an object into this directory instead' -r -f -a "(__fish_complete_directories)"
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand render" -s q -l quiet -d 'Print no progress and no hints' -r -f -a "true\t''
false\t''"
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand render" -l color -d 'When to colour' -r -f -a "auto\t'On a terminal, unless the environment disables it'
always\t'Always, even in a file'
never\t'Never'"
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand render" -l request-timeout -d 'Longest wait for one answer of the server, e.g. 30s, 1m; 0 means no limit' -r
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand render" -l kubeconfig -d 'Kubeconfig file to use instead of $KUBECONFIG and ~/.kube/config' -r -F
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand render" -l context -d 'Kubeconfig context to use instead of the current one' -r
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand render" -l cluster -d 'Kubeconfig cluster to use instead of the context\'s' -r
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand render" -l user -d 'Kubeconfig user to use instead of the context\'s' -r
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand render" -s s -l server -d 'URL of the API server; https:// may be left out; credentials are sent over https:// only' -r -f
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand render" -l token -d 'Bearer token; wins over every other token, password and plugin of the user. Others can see it in the list of processes' -r
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand render" -l as -d 'User to impersonate' -r
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand render" -l as-group -d 'Group to impersonate, may be repeated; needs --as' -r
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand render" -l as-uid -d 'UID to impersonate; needs --as' -r
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand render" -l as-user-extra -d 'Extra attribute to impersonate, KEY=VALUE, may be repeated; needs --as' -r
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand render" -l certificate-authority -d 'Certificate file of the authority that signed the server\'s certificate' -r -F
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand render" -l client-certificate -d 'Client certificate file; needs --client-key, unless the kubeconfig has the key' -r -F
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand render" -l client-key -d 'Client key file; needs --client-certificate, unless the kubeconfig has the certificate' -r -F
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand render" -l insecure-skip-tls-verify -d 'Do not verify the server\'s certificate: whoever sits in between can read and change everything' -r -f -a "true\t''
false\t''"
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand render" -l tls-server-name -d 'Name to verify the server\'s certificate against, instead of the URL\'s' -r
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand render" -l disable-compression -d 'Do not ask for compressed responses' -r -f -a "true\t''
false\t''"
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand render" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand render" -s V -l version -d 'Print version'
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand diff" -s f -l filename -d 'File that holds the Config, - for standard input; without it the cluster\'s own is read' -r -F
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand diff" -l name -d 'Name of the Config, and the field manager\'s name' -r
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand diff" -l templates -d 'Directory of templates: a file there replaces the built-in one of the same name, others are added' -r -f -a "(__fish_complete_directories)"
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand diff" -l platform -d 'Platform to render for; auto asks the cluster whether it serves route.openshift.io' -r -f -a "auto\t'What the cluster serves decides'
kubernetes\t'Plain Kubernetes'
openshift\t'OpenShift'"
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand diff" -l monitoring -d 'Whether to render the monitoring objects; auto asks the cluster whether it serves monitoring.coreos.com' -r -f -a "auto\t'What the cluster serves decides'
on\t'Render them'
off\t'Leave them out'"
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand diff" -l image-pull-policy -d 'Pull policy of all containers, as a pod has it; without it the server decides' -r
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand diff" -s n -l namespace -d 'Namespace that the Config must name; a check, the Config decides' -r
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand diff" -s o -l output -d 'Output format' -r -f -a "text\t'A unified diff an object, with the owner of each live value'
paths\t'One line a field: path, live and desired value, owner'
json\t'One JSON document'
name\t'The names of the objects that differ'"
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand diff" -l field-manager -d 'Name under which the fields would be owned; the Config\'s name unless given' -r
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand diff" -l exact -d 'Count fields that others set and the Config does not mention as drift' -r -f -a "true\t''
false\t''"
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand diff" -s q -l quiet -d 'Print no progress and no hints' -r -f -a "true\t''
false\t''"
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand diff" -l color -d 'When to colour' -r -f -a "auto\t'On a terminal, unless the environment disables it'
always\t'Always, even in a file'
never\t'Never'"
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand diff" -l request-timeout -d 'Longest wait for one answer of the server, e.g. 30s, 1m; 0 means no limit' -r
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand diff" -l kubeconfig -d 'Kubeconfig file to use instead of $KUBECONFIG and ~/.kube/config' -r -F
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand diff" -l context -d 'Kubeconfig context to use instead of the current one' -r
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand diff" -l cluster -d 'Kubeconfig cluster to use instead of the context\'s' -r
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand diff" -l user -d 'Kubeconfig user to use instead of the context\'s' -r
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand diff" -s s -l server -d 'URL of the API server; https:// may be left out; credentials are sent over https:// only' -r -f
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand diff" -l token -d 'Bearer token; wins over every other token, password and plugin of the user. Others can see it in the list of processes' -r
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand diff" -l as -d 'User to impersonate' -r
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand diff" -l as-group -d 'Group to impersonate, may be repeated; needs --as' -r
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand diff" -l as-uid -d 'UID to impersonate; needs --as' -r
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand diff" -l as-user-extra -d 'Extra attribute to impersonate, KEY=VALUE, may be repeated; needs --as' -r
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand diff" -l certificate-authority -d 'Certificate file of the authority that signed the server\'s certificate' -r -F
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand diff" -l client-certificate -d 'Client certificate file; needs --client-key, unless the kubeconfig has the key' -r -F
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand diff" -l client-key -d 'Client key file; needs --client-certificate, unless the kubeconfig has the certificate' -r -F
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand diff" -l insecure-skip-tls-verify -d 'Do not verify the server\'s certificate: whoever sits in between can read and change everything' -r -f -a "true\t''
false\t''"
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand diff" -l tls-server-name -d 'Name to verify the server\'s certificate against, instead of the URL\'s' -r
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand diff" -l disable-compression -d 'Do not ask for compressed responses' -r -f -a "true\t''
false\t''"
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand diff" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand diff" -s V -l version -d 'Print version'
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand apply" -s f -l filename -d 'File that holds the Config, - for standard input; without it the cluster\'s own is read' -r -F
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand apply" -l name -d 'Name of the Config, and the field manager\'s name' -r
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand apply" -l templates -d 'Directory of templates: a file there replaces the built-in one of the same name, others are added' -r -f -a "(__fish_complete_directories)"
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand apply" -l platform -d 'Platform to render for; auto asks the cluster whether it serves route.openshift.io' -r -f -a "auto\t'What the cluster serves decides'
kubernetes\t'Plain Kubernetes'
openshift\t'OpenShift'"
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand apply" -l monitoring -d 'Whether to render the monitoring objects; auto asks the cluster whether it serves monitoring.coreos.com' -r -f -a "auto\t'What the cluster serves decides'
on\t'Render them'
off\t'Leave them out'"
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand apply" -l image-pull-policy -d 'Pull policy of all containers, as a pod has it; without it the server decides' -r
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand apply" -s n -l namespace -d 'Namespace that the Config must name; a check, the Config decides' -r
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand apply" -l server-side -d 'Apply on the server; there is no other way, the flag is taken for habit\'s sake' -r -f -a "true\t''
false\t''"
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand apply" -l field-manager -d 'Name under which the fields are owned; the Config\'s name unless given' -r
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand apply" -l force-conflicts -d 'Take fields over that other field managers own with other values' -r -f -a "true\t''
false\t''"
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand apply" -l exact -d 'Also remove fields that others set and the Config does not mention, as the operator does' -r -f -a "true\t''
false\t''"
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand apply" -l create-namespace -d 'Create the namespace if it is not there' -r -f -a "true\t''
false\t''"
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand apply" -l dry-run -d 'Change nothing: client compares only, server goes through all of it' -r -f -a "none\t''
client\t''
server\t''"
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand apply" -l wait -d 'Wait until every node runs the new pods' -r -f -a "true\t''
false\t''"
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand apply" -l timeout -d 'Longest wait for the pods, e.g. 90s, 5m; 0 means no limit' -r
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand apply" -s q -l quiet -d 'Print no progress and no hints' -r -f -a "true\t''
false\t''"
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand apply" -l color -d 'When to colour' -r -f -a "auto\t'On a terminal, unless the environment disables it'
always\t'Always, even in a file'
never\t'Never'"
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand apply" -l request-timeout -d 'Longest wait for one answer of the server, e.g. 30s, 1m; 0 means no limit' -r
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand apply" -l kubeconfig -d 'Kubeconfig file to use instead of $KUBECONFIG and ~/.kube/config' -r -F
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand apply" -l context -d 'Kubeconfig context to use instead of the current one' -r
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand apply" -l cluster -d 'Kubeconfig cluster to use instead of the context\'s' -r
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand apply" -l user -d 'Kubeconfig user to use instead of the context\'s' -r
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand apply" -s s -l server -d 'URL of the API server; https:// may be left out; credentials are sent over https:// only' -r -f
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand apply" -l token -d 'Bearer token; wins over every other token, password and plugin of the user. Others can see it in the list of processes' -r
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand apply" -l as -d 'User to impersonate' -r
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand apply" -l as-group -d 'Group to impersonate, may be repeated; needs --as' -r
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand apply" -l as-uid -d 'UID to impersonate; needs --as' -r
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand apply" -l as-user-extra -d 'Extra attribute to impersonate, KEY=VALUE, may be repeated; needs --as' -r
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand apply" -l certificate-authority -d 'Certificate file of the authority that signed the server\'s certificate' -r -F
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand apply" -l client-certificate -d 'Client certificate file; needs --client-key, unless the kubeconfig has the key' -r -F
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand apply" -l client-key -d 'Client key file; needs --client-certificate, unless the kubeconfig has the certificate' -r -F
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand apply" -l insecure-skip-tls-verify -d 'Do not verify the server\'s certificate: whoever sits in between can read and change everything' -r -f -a "true\t''
false\t''"
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand apply" -l tls-server-name -d 'Name to verify the server\'s certificate against, instead of the URL\'s' -r
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand apply" -l disable-compression -d 'Do not ask for compressed responses' -r -f -a "true\t''
false\t''"
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand apply" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand apply" -s V -l version -d 'Print version'
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand watch" -l name -d 'Name of the Config, and the field manager\'s name' -r
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand watch" -l templates -d 'Directory of templates: a file there replaces the built-in one of the same name, others are added' -r -f -a "(__fish_complete_directories)"
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand watch" -l platform -d 'Platform to render for; auto asks the cluster whether it serves route.openshift.io' -r -f -a "auto\t'What the cluster serves decides'
kubernetes\t'Plain Kubernetes'
openshift\t'OpenShift'"
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand watch" -l monitoring -d 'Whether to render the monitoring objects; auto asks the cluster whether it serves monitoring.coreos.com' -r -f -a "auto\t'What the cluster serves decides'
on\t'Render them'
off\t'Leave them out'"
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand watch" -l image-pull-policy -d 'Pull policy of all containers, as a pod has it; without it the server decides' -r
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand watch" -s n -l namespace -d 'Namespace that the Config must name; a check, the Config decides' -r
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand watch" -s o -l output -d 'Form of the log' -r -f -a "text\t'Lines for people'
json\t'One JSON object a line'"
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand watch" -l field-manager -d 'Name under which the fields are owned; the Config\'s name unless given' -r
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand watch" -l force-conflicts -d 'Take fields over from other field managers, as a controller does' -r -f -a "true\t''
false\t''"
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand watch" -l exact -d 'Also remove fields that others set and the Config does not mention, as the operator does' -r -f -a "true\t''
false\t''"
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand watch" -l create-namespace -d 'Create the namespace if it does not exist' -r -f -a "true\t''
false\t''"
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand watch" -l dry-run -d 'Report what deviates, and change nothing' -r -f -a "true\t''
false\t''"
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand watch" -l finalizer -d 'Keep the finalizer on the Config while watching, as the operator does' -r -f -a "true\t''
false\t''"
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand watch" -l resync -d 'How often everything is read again although nothing seems to have changed' -r
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand watch" -l until -d 'Condition that ends the command: in sync, an object deviates, or in sync and all pods ready' -r -f -a "in-sync\t'Every object is as desired'
drift\t'An object deviates'
ready\t'Every object is as desired, and every node runs the newest pods'"
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand watch" -l timeout -d 'Longest wait for --until, e.g. 90s, 5m; 0 means no limit' -r
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand watch" -s v -l verbose -d 'Report each step' -r -f -a "true\t''
false\t''"
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand watch" -s q -l quiet -d 'Print no progress and no hints' -r -f -a "true\t''
false\t''"
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand watch" -l color -d 'When to colour' -r -f -a "auto\t'On a terminal, unless the environment disables it'
always\t'Always, even in a file'
never\t'Never'"
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand watch" -l request-timeout -d 'Longest wait for one answer of the server, e.g. 30s, 1m; 0 means no limit' -r
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand watch" -l kubeconfig -d 'Kubeconfig file to use instead of $KUBECONFIG and ~/.kube/config' -r -F
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand watch" -l context -d 'Kubeconfig context to use instead of the current one' -r
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand watch" -l cluster -d 'Kubeconfig cluster to use instead of the context\'s' -r
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand watch" -l user -d 'Kubeconfig user to use instead of the context\'s' -r
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand watch" -s s -l server -d 'URL of the API server; https:// may be left out; credentials are sent over https:// only' -r -f
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand watch" -l token -d 'Bearer token; wins over every other token, password and plugin of the user. Others can see it in the list of processes' -r
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand watch" -l as -d 'User to impersonate' -r
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand watch" -l as-group -d 'Group to impersonate, may be repeated; needs --as' -r
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand watch" -l as-uid -d 'UID to impersonate; needs --as' -r
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand watch" -l as-user-extra -d 'Extra attribute to impersonate, KEY=VALUE, may be repeated; needs --as' -r
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand watch" -l certificate-authority -d 'Certificate file of the authority that signed the server\'s certificate' -r -F
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand watch" -l client-certificate -d 'Client certificate file; needs --client-key, unless the kubeconfig has the key' -r -F
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand watch" -l client-key -d 'Client key file; needs --client-certificate, unless the kubeconfig has the certificate' -r -F
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand watch" -l insecure-skip-tls-verify -d 'Do not verify the server\'s certificate: whoever sits in between can read and change everything' -r -f -a "true\t''
false\t''"
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand watch" -l tls-server-name -d 'Name to verify the server\'s certificate against, instead of the URL\'s' -r
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand watch" -l disable-compression -d 'Do not ask for compressed responses' -r -f -a "true\t''
false\t''"
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand watch" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand watch" -s V -l version -d 'Print version'
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand completion" -s q -l quiet -d 'Print no progress and no hints' -r -f -a "true\t''
false\t''"
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand completion" -l color -d 'When to colour' -r -f -a "auto\t'On a terminal, unless the environment disables it'
always\t'Always, even in a file'
never\t'Never'"
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand completion" -l request-timeout -d 'Longest wait for one answer of the server, e.g. 30s, 1m; 0 means no limit' -r
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand completion" -l kubeconfig -d 'Kubeconfig file to use instead of $KUBECONFIG and ~/.kube/config' -r -F
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand completion" -l context -d 'Kubeconfig context to use instead of the current one' -r
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand completion" -l cluster -d 'Kubeconfig cluster to use instead of the context\'s' -r
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand completion" -l user -d 'Kubeconfig user to use instead of the context\'s' -r
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand completion" -s s -l server -d 'URL of the API server; https:// may be left out; credentials are sent over https:// only' -r -f
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand completion" -l token -d 'Bearer token; wins over every other token, password and plugin of the user. Others can see it in the list of processes' -r
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand completion" -l as -d 'User to impersonate' -r
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand completion" -l as-group -d 'Group to impersonate, may be repeated; needs --as' -r
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand completion" -l as-uid -d 'UID to impersonate; needs --as' -r
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand completion" -l as-user-extra -d 'Extra attribute to impersonate, KEY=VALUE, may be repeated; needs --as' -r
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand completion" -l certificate-authority -d 'Certificate file of the authority that signed the server\'s certificate' -r -F
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand completion" -l client-certificate -d 'Client certificate file; needs --client-key, unless the kubeconfig has the key' -r -F
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand completion" -l client-key -d 'Client key file; needs --client-certificate, unless the kubeconfig has the certificate' -r -F
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand completion" -l insecure-skip-tls-verify -d 'Do not verify the server\'s certificate: whoever sits in between can read and change everything' -r -f -a "true\t''
false\t''"
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand completion" -l tls-server-name -d 'Name to verify the server\'s certificate against, instead of the URL\'s' -r
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand completion" -l disable-compression -d 'Do not ask for compressed responses' -r -f -a "true\t''
false\t''"
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand completion" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand completion" -s V -l version -d 'Print version'
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand help; and not __fish_seen_subcommand_from render diff apply watch completion help" -f -a "render" -d 'Print the objects that the Config becomes'
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand help; and not __fish_seen_subcommand_from render diff apply watch completion help" -f -a "diff" -d 'Show where the cluster deviates, and who changed it'
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand help; and not __fish_seen_subcommand_from render diff apply watch completion help" -f -a "apply" -d 'Bring the cluster to what is wanted, by server-side apply'
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand help; and not __fish_seen_subcommand_from render diff apply watch completion help" -f -a "watch" -d 'Keep the cluster at what is wanted, until stopped'
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand help; and not __fish_seen_subcommand_from render diff apply watch completion help" -f -a "completion" -d 'Print the completion script of a shell'
complete -c kubectl-bpfman-config -n "__fish_kubectl_bpfman_config_using_subcommand help; and not __fish_seen_subcommand_from render diff apply watch completion help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
