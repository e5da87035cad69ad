"""ControlPlane: Kubernetes without nodes on loopback: etcd, API server, controllers and the test kubelet."""

import json
import random
import secrets
import shutil
import socket
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

from tests.cluster.audit import POLICY, Row, read_audit
from tests.cluster.certificates import CERTIFICATE, CHECKING_KEY, KEY, SIGNING_KEY, make_certificates
from tests.cluster.child import kill_child, start_child
from tests.cluster.client import ClusterClient, Document, Refused, path
from tests.cluster.job_watch import JobWatch
from tests.cluster.kubeconfig import write_kubeconfig
from tests.cluster.wait import wait_until

ROOT = Path(__file__).parents[2]
CONTROLLERS = (
    "job-controller", "garbage-collector-controller", "namespace-controller", "resourcequota-controller",
    "serviceaccount-controller", "serviceaccount-token-controller", "ttl-after-finished-controller",
)  # fmt: skip
CRONJOBS = "cronjob-controller"
_ISSUER = "https://kubernetes.default.svc"
_PORTS = range(20000, 32000)  # below those of outgoing connections: one that was ours is free again
_START_TIMEOUT = 120.0  # seconds, on a busy machine
_TRIES = 3


class ControlPlane:
    """All processes of it die with this one, also when this one is killed. The folder is the plane's own."""

    def __init__(
        self,
        folder: Path,
        programs: Path,
        *,
        controllers: Sequence[str] = CONTROLLERS,
        queries_per_second: int | None = 500,
        kubelet: bool = True,
        policy: Document = POLICY,
    ) -> None:
        """Without a rate the controllers have their own; without a kubelet no Pod ever runs."""
        self.folder, self._programs = folder, programs
        self._controllers, self._rate = controllers, queries_per_second
        self._has_kubelet, self._policy = kubelet, policy
        self._children: dict[str, subprocess.Popen[bytes]] = {}
        self._admin_token, self._controllers_token = secrets.token_hex(16), secrets.token_hex(16)
        self._clients: dict[str, ClusterClient] = {}  # by token
        self._jobs: JobWatch | None = None
        self._etcd_port = self._peer_port = self._port = 0

    # --- its life -----------------------------------------------------------------------------------------------------

    def start(self, *definitions: Document) -> "ControlPlane":
        """Start everything, these CustomResourceDefinitions served, and return when Pods can be created.

        The controllers come last: the garbage collector looks for new resources only twice a minute.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        make_certificates(self.folder)
        self.authority = (self.folder / CERTIFICATE).read_text("ascii")
        tokens = (
            f'{self._admin_token},admin,u1,"system:masters"\n'
            f"{self._controllers_token},system:kube-controller-manager,u2,\n"
        )
        (self.folder / "tokens.csv").write_text(tokens, "ascii")
        (self.folder / "audit.yaml").write_text(json.dumps(self._policy), "utf-8")
        for tried in range(1, _TRIES + 1):
            self._etcd_port, self._peer_port, self._port = free_ports(3)
            try:
                self._start_etcd()
                self.start_api_server()
                break
            except StartError:  # another one may have taken a port
                self.stop()
                if tried == _TRIES:
                    raise
        for each in definitions:
            self.apply_crd(each)
        if self._controllers:
            self._start_controllers()
        if self._has_kubelet:
            self._run("kubelet", [sys.executable, "-m", "tests.cluster.kubelet", self.kubeconfig(self._admin_token)])
            wait_until(self._has_node, _START_TIMEOUT, what="the node")
        return self

    def stop(self) -> None:
        """End every process, and remove what they stored; their logs stay."""
        if self._jobs is not None:
            self._jobs.close()
        for child in self._children.values():
            kill_child(child)
        for client in self._clients.values():
            client.close()
        self._children.clear()
        self._clients.clear()
        shutil.rmtree(self.folder / "etcd", ignore_errors=True)

    def kill_api_server(self) -> None:
        """End the API server as a power failure would."""
        kill_child(self._children.pop("kube-apiserver"))

    def start_api_server(self) -> None:
        """Start the API server, where it was, and return when it is ready.

        Controllers that ran without one are restarted: by themselves they would come back after up to a minute.
        """
        at, etcd = self.folder, f"http://127.0.0.1:{self._etcd_port}"
        flags = {
            "etcd-servers": etcd, "bind-address": "127.0.0.1", "secure-port": self._port,
            "advertise-address": "127.0.0.1", "endpoint-reconciler-type": "none",
            "service-cluster-ip-range": "10.0.0.0/24",
            "tls-cert-file": at / CERTIFICATE, "tls-private-key-file": at / KEY,
            "token-auth-file": at / "tokens.csv", "anonymous-auth": "false", "authorization-mode": "RBAC",
            "service-account-issuer": _ISSUER, "api-audiences": _ISSUER,
            "service-account-key-file": at / CHECKING_KEY, "service-account-signing-key-file": at / SIGNING_KEY,
            "disable-admission-plugins": "TaintNodesByCondition", "enable-priority-and-fairness": "false",
            "profiling": "false", "audit-policy-file": at / "audit.yaml", "audit-log-path": at / "audit.log",
        }  # fmt: skip
        self._run("kube-apiserver", _command(self._programs / "kube-apiserver", flags))
        self._wait_for("kube-apiserver", self._is_ready)
        if "kube-controller-manager" in self._children:
            kill_child(self._children.pop("kube-controller-manager"))
            self._start_controllers()

    def restart_controllers(self, queries_per_second: int | None) -> None:
        """End the controllers, and start them with another rate."""
        kill_child(self._children.pop("kube-controller-manager"))
        self._rate = queries_per_second
        self._start_controllers()

    def compact(self) -> None:
        """Make etcd forget every revision but the last: a watch from an older one is answered by 410."""
        found = self._ask_etcd("/v3/kv/range", {"key": "AA=="})
        self._ask_etcd("/v3/kv/compaction", {"revision": found["header"]["revision"], "physical": True})

    # --- what tests need of it ----------------------------------------------------------------------------------------

    @property
    def server(self) -> str:
        """The address of the API server."""
        return f"https://127.0.0.1:{self._port}"

    @property
    def admin(self) -> ClusterClient:
        """A client that may do everything."""
        return self.client(self._admin_token)

    def client(self, token: str) -> ClusterClient:
        """Return a client that sends the token."""
        if token not in self._clients:
            self._clients[token] = ClusterClient(self.server, self.authority, token)
        return self._clients[token]

    def namespace(self, prefix: str = "test") -> str:
        """Make a namespace of its own, and return its name when Pods can be created in it."""
        name, admin = f"{prefix}-{secrets.token_hex(4)}", self.admin
        admin.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
        wait_until(lambda: admin.list("ServiceAccount", name), what=f"the ServiceAccount of {name}")
        return name

    def apply_crd(self, document: Document) -> None:
        """Create a CustomResourceDefinition, and return when it is served."""
        admin, name = self.admin, document["metadata"]["name"]
        admin.create(document)
        wait_until(lambda: is_established(admin.get("CustomResourceDefinition", "", name)), what=name)
        wait_until(lambda: _is_served(admin, document), what=f"{name} served")

    def token(self, namespace: str, account: str) -> str:
        """Return a token of a ServiceAccount, as its Pod would have one."""
        where = path("ServiceAccount", namespace, account, "token")
        request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
        token: str = self.admin.ask("POST", where, request)["status"]["token"]
        return token

    def kubeconfig(self, token: str, namespace: str = "") -> Path:
        """Write a kubeconfig with the token, and return its path."""
        place = self.folder / f"{secrets.token_hex(4)}.kubeconfig"
        return write_kubeconfig(place, server=self.server, authority=self.authority, token=token, namespace=namespace)

    def audit(self) -> list[Row]:
        """Return what ServiceAccounts (but the controllers') have asked so far."""
        return read_audit(self.folder / "audit.log")

    def watch_jobs(self) -> None:
        """Remember from now on every Job that is stored, also after it is deleted."""
        self._jobs = JobWatch(self.client(self._admin_token))
        self._jobs.start()

    def stored_jobs(self, namespace: str) -> list[Document]:
        """Return the metadata of every Job that was stored in a namespace since `watch_jobs`."""
        return [] if self._jobs is None else self._jobs.stored(namespace)

    def pid(self, program: str) -> int:
        """Return the process of kube-apiserver, kube-controller-manager, etcd or kubelet."""
        return self._children[program].pid

    # --- its parts ----------------------------------------------------------------------------------------------------

    def _start_etcd(self) -> None:
        client, peer = f"http://127.0.0.1:{self._etcd_port}", f"http://127.0.0.1:{self._peer_port}"
        flags = {
            "data-dir": self.folder / "etcd", "listen-client-urls": client, "advertise-client-urls": client,
            "listen-peer-urls": peer, "initial-advertise-peer-urls": peer, "initial-cluster": f"default={peer}",
            "unsafe-no-fsync": "true", "quota-backend-bytes": 8 * 2**30,
        }  # fmt: skip
        self._run("etcd", _command(self._programs / "etcd", flags))
        self._wait_for("etcd", lambda: bool(self._ask_etcd("/v3/maintenance/status", {})))

    def _start_controllers(self) -> None:
        config = self.kubeconfig(self._controllers_token)
        flags = {
            "kubeconfig": config, "authentication-skip-lookup": "true", "secure-port": 0, "leader-elect": "false",
            "controllers": ",".join(self._controllers), "use-service-account-credentials": "true",
            "service-account-private-key-file": self.folder / SIGNING_KEY, "root-ca-file": self.folder / CERTIFICATE,
        }  # fmt: skip
        if self._rate is not None:
            flags |= {"kube-api-qps": self._rate, "kube-api-burst": 2 * self._rate}
        self._run("kube-controller-manager", _command(self._programs / "kube-controller-manager", flags))

    def _run(self, name: str, command: Sequence[str | Path]) -> None:
        self._children[name] = start_child(command, self.folder / f"{name}.log", where=ROOT)

    def _wait_for(self, name: str, is_up: Any) -> None:
        def answer() -> bool:
            if self._children[name].poll() is not None:
                log = (self.folder / f"{name}.log").read_text("utf-8", "replace")
                raise StartError(f"{name} has ended:\n{log[-2000:]}")
            with suppress(OSError):
                return bool(is_up())
            return False

        wait_until(answer, _START_TIMEOUT, what=f"{name} ready")

    def _is_ready(self) -> bool:
        try:
            return self.admin.ask("GET", "/readyz") == {"message": "ok"}
        except Refused:
            return False

    def _has_node(self) -> bool:
        nodes = self.admin.list("Node")
        return bool(nodes and nodes[0].get("status", {}).get("conditions"))

    def _ask_etcd(self, where: str, body: dict[str, object]) -> Any:
        connection = HTTPConnection("127.0.0.1", self._etcd_port, timeout=60)
        try:
            connection.request("POST", where, json.dumps(body))
            answer = connection.getresponse()
            text = answer.read()
            assert answer.status == 200, text
            return json.loads(text)
        finally:
            connection.close()


class StartError(Exception):
    """A program of the plane has ended by itself."""


def free_ports(count: int) -> list[int]:
    """Return free ports of loopback."""
    found: list[int] = []
    while len(found) < count:
        port = random.choice(_PORTS)
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            found += [port] if port not in found else []
    return found


def is_established(crd: Document) -> bool:
    """Tell whether the server says that it serves the resource."""
    conditions = {each["type"]: each["status"] for each in crd.get("status", {}).get("conditions") or []}
    return conditions.get("Established") == "True"


def _is_served(admin: ClusterClient, crd: Document) -> bool:
    try:
        admin.list(crd["spec"]["names"]["kind"])
    except Refused:
        return False
    return True


def _command(program: Path, flags: dict[str, object]) -> list[str]:
    return [str(program), *(f"--{name}={value}" for name, value in flags.items())]
