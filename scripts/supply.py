"""The supply chain: what a release is made of, known vulnerabilities in it, and whether it can be built again.

python scripts/supply.py sbom        dist/sbom.cdx.json, CycloneDX 1.5, from requirements.lock with its hashes
python scripts/supply.py audit       pip-audit over the lock; says so and ends well where no service can be asked
python scripts/supply.py wheel       builds the wheel twice in different folders; fails when a byte differs
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import uuid
from pathlib import Path

ROOT = Path(__file__).parents[1]
LOCK, DIST = ROOT / "requirements.lock", ROOT / "dist"
EPOCH = "1577836800"  # 2020-01-01; any fixed time serves


def locked() -> list[tuple[str, str, list[str]]]:
    """Name, version and SHA-256 hashes of every package of the lock."""
    entries = re.split(r"\n(?=\S)", LOCK.read_text())
    found = [
        (re.match(r"([\w.-]+)==([^\s;]+)", entry), re.findall(r"sha256:([0-9a-f]{64})", entry)) for entry in entries
    ]
    return [(match[1], match[2], hashes) for match, hashes in found if match]


def bill() -> dict[str, object]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    components = [
        {
            "type": "library",
            "bom-ref": (purl := f"pkg:pypi/{name.lower()}@{version}"),
            "name": name,
            "version": version,
            "purl": purl,
            "hashes": [{"alg": "SHA-256", "content": each} for each in hashes],
        }
        for name, version, hashes in locked()
    ]
    ours = {"type": "application", "bom-ref": "recollect", "name": project["name"], "version": project["version"]}
    serial = uuid.uuid5(uuid.NAMESPACE_URL, hashlib.sha256(LOCK.read_bytes()).hexdigest())
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "serialNumber": f"urn:uuid:{serial}",
        "version": 1,
        "metadata": {"component": {**ours, "licenses": [{"license": {"id": project["license"]}}]}},
        "components": components,
        "dependencies": [{"ref": "recollect", "dependsOn": [each["bom-ref"] for each in components]}],
    }


def sbom() -> int:
    DIST.mkdir(exist_ok=True)
    (DIST / "sbom.cdx.json").write_text(json.dumps(bill(), indent=1) + "\n")
    print(f"dist/sbom.cdx.json: {len(locked())} packages")
    return 0


def audit() -> int:
    program = shutil.which("pip-audit", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    if not program:
        print("audit: skipped, because pip-audit is not installed (pip install pip-audit)")
        return 0
    command = [program, "-r", str(LOCK), "--disable-pip", "--progress-spinner", "off", "-f", "json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    try:
        found = json.loads(done.stdout)["dependencies"]
    except (ValueError, KeyError):
        print(f"audit: skipped, because pip-audit could not run: {done.stderr.strip().splitlines()[-1:]}")
        return 0
    asked = [each for each in found if "skip_reason" not in each]
    if not asked:
        print("audit: skipped, because the vulnerability service knows none of the packages from here")
        return 0
    bad = [(each["name"], each["version"], [one["id"] for one in each["vulns"]]) for each in asked if each.get("vulns")]
    print(f"audit: {len(asked)} of {len(found)} packages asked about, vulnerable: {bad or 'none'}")
    return 1 if bad else 0


def wheel() -> int:
    """Two builds from two copies of the source, one after the other."""
    digests = []
    for number in range(2):
        with tempfile.TemporaryDirectory(prefix=f"build{number}-") as folder:
            source = Path(folder) / "source"
            names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
            for name in names.decode().split("\0")[:-1]:
                (source / name).parent.mkdir(parents=True, exist_ok=True)
                if (ROOT / name).is_file():
                    shutil.copy(ROOT / name, source / name)  # with another time than before
            command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", folder, str(source)]
            subprocess.run(
                command, check=True, env={**os.environ, "SOURCE_DATE_EPOCH": EPOCH, "PYTHONHASHSEED": str(number)}
            )
            [made] = Path(folder).glob("*.whl")
            digests.append(hashlib.sha256(made.read_bytes()).hexdigest())
            DIST.mkdir(exist_ok=True)
            shutil.copy(made, DIST / made.name)
    print(
        f"dist/{made.name}: {digests[0]}"
        + ("" if digests[0] == digests[1] else f" and then {digests[1]}: NOT the same")
    )
    return int(digests[0] != digests[1])


if __name__ == "__main__":
    sys.exit({"sbom": sbom, "audit": audit, "wheel": wheel}[sys.argv[1]]())
