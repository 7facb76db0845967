#!/bin/sh
# Run a command in an unpacked image like a container engine does with
#     --read-only --tmpfs /tmp --cap-drop ALL --security-opt no-new-privileges --network host
# All processes and mounts end with the namespaces, which the caller creates:
#     unshare --mount --pid --ipc --uts --fork --kill-child sh contain.sh IMAGE_ROOT DATA_FOLDER UID COMMAND ...
set -eu

root=$1
data=$2
user=$3
shift 3

mount --make-rprivate /
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"

mount -t tmpfs -o mode=755,nosuid tmpfs "$root/dev"
for device in null zero full random urandom tty; do
    : >"$root/dev/$device"
    mount --bind "/dev/$device" "$root/dev/$device"
done
ln -s /proc/self/fd "$root/dev/fd"
mkdir "$root/dev/shm"
# 64 MB is Docker's default.
mount -t tmpfs -o mode=1777,nosuid,nodev,size=64m tmpfs "$root/dev/shm"

mount -t tmpfs -o mode=1777,noexec,nosuid,nodev tmpfs "$root/tmp"
mount --bind "$data" "$root/data"
mount -o remount,bind,ro "$root"

cd "$root"
pivot_root . .
umount -l .
exec setpriv --reuid "$user" --regid "$user" --clear-groups \
    --inh-caps=-all --bounding-set=-all --no-new-privs "$@"
