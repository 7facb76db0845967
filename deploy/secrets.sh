#!/bin/sh
# Create the secrets for compose.yaml and kubernetes/, once, in a folder beside this file.
# POSTGRES=host:port VALKEY=host:port set other hosts than those of compose.yaml.
set -eu
cd "$(dirname "$0")"
folder=${1:-secrets}
postgres=${POSTGRES:-postgres:5432}
valkey=${VALKEY:-valkey:6379}

random() {
    od -An -N24 -tx1 /dev/urandom | tr -d ' \n'
}

if [ -e "$folder" ]; then
    echo "$folder is there already; nothing was changed" >&2
    exit 1
fi
mkdir -m 0700 "$folder"
cd "$folder"
postgres_password=$(random)
valkey_password=$(random)
random >token
printf %s "$postgres_password" >postgres-password
printf %s "postgresql://search:$postgres_password@$postgres/search" >database-url
printf %s "redis://:$valkey_password@$valkey/0" >shared-url
printf 'requirepass %s\n' "$valkey_password" >valkey.conf
# Container engines mount the files with this mode for their own users. Here, the mode of the folder protects them.
chmod 0444 ./*
