"""Write the files of deploy/ from the objects that `kron-operator manifests` prints: `make deploy`.

The templates of the chart are the same objects with holes, which the values of a release fill. Its Namespace is Helm's.
"""

from pathlib import Path

from kron.adapters.kubernetes.manifests import write_manifest
from kron.hosts.operator.deployment import METRICS, RESTRICTED, Objects, cluster_objects, namespaced_objects
from kron.kronjob.crd import crd

FOLDER = Path(__file__).parents[2] / "deploy"
CHART = FOLDER / "chart" / "kron-operator"

_NAMESPACE, _IMAGE = "HOLE-namespace", "HOLE-image"
_VALUES = {
    _NAMESPACE: "{{ .Release.Namespace | quote }}",
    _IMAGE: '"{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}"',
    "HOLE-policy": "{{ .Values.image.pullPolicy }}",
    "HOLE-replicas": "{{ .Values.replicas }}",
    "HOLE-resources": "{{ toJson .Values.resources }}",
}
_LINES = {  # of which there are as many as the values say
    "imagePullSecrets: HOLE-secrets": (
        "{{- with .Values.imagePullSecrets }}",
        "imagePullSecrets: {{ toJson . }}",
        "{{- end }}",
    ),
    "- HOLE-flags": (
        "{{- range $flag, $value := .Values.flags }}",
        '- {{ printf "--%s=%v" $flag $value | quote }}',
        "{{- end }}",
    ),
}

_LABELS = {key: "=".join(next(iter(labels.items()))) for key, labels in (("pod", RESTRICTED), ("metrics", METRICS))}
_NOTES = f"""kron-operator runs in {{{{ .Release.Namespace }}}}.

Helm does not label the namespace that it makes. Enforce the restricted profile there, which the Pods satisfy:
  kubectl label namespace {{{{ .Release.Namespace }}}} {_LABELS["pod"]}

Only the node may reach /metrics. Allow the namespace of your Prometheus:
  kubectl label namespace NAMESPACE {_LABELS["metrics"]}
"""


def files() -> dict[Path, str]:
    """Return the text of every file that is made from the code."""
    definition = write_manifest(crd())
    return {
        FOLDER / "crd.yaml": definition,
        FOLDER / "operator.yaml": stream(cluster_objects()),
        FOLDER / "namespaced.yaml": stream(namespaced_objects()),
        CHART / "crds" / "kronjobs.yaml": definition,
        CHART / "templates" / "operator.yaml": _template("not .Values.namespaced", cluster_objects(_NAMESPACE, _IMAGE)),
        CHART / "templates" / "namespaced.yaml": _template(
            ".Values.namespaced", namespaced_objects(_NAMESPACE, _IMAGE)
        ),
        CHART / "templates" / "NOTES.txt": _NOTES,
    }


def stream(objects: Objects) -> str:
    """Return objects as one text."""
    return "---\n".join(map(write_manifest, objects))


def _template(condition: str, objects: Objects) -> str:
    kept = [each for each in objects if each["kind"] != "Namespace"]
    for each in kept:
        if each["kind"] == "Deployment":
            _make_holes(each["spec"])
    lines = [line for text in stream(kept).splitlines() for line in _filled(text)]
    return "\n".join([f"{{{{- if {condition} }}}}", *lines, "{{- end }}", ""])


def _make_holes(deployment: dict[str, object]) -> None:
    deployment["replicas"] = "HOLE-replicas"
    template = deployment["template"]
    assert isinstance(template, dict)
    pod = template["spec"]
    (container,) = pod["containers"]
    container |= {"imagePullPolicy": "HOLE-policy", "resources": "HOLE-resources"}
    container["args"].append("HOLE-flags")
    pod["imagePullSecrets"] = "HOLE-secrets"


def _filled(line: str) -> list[str]:
    text = line.lstrip()
    indent = line[: len(line) - len(text)]
    if text in _LINES:
        return [part if part.startswith("{{-") else indent + part for part in _LINES[text]]
    for hole, value in _VALUES.items():
        line = line.replace(hole, value)
    assert "HOLE" not in line
    return [line]


if __name__ == "__main__":
    for path, text in files().items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
