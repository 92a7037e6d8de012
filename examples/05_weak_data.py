"""
Can this table be embedded?
===========================

How good an embedding can be, asked before it is believed, for tables that are ever noisier.
"""

import warnings

from ikd_graph import IKD, datasets, metrics
from ikd_graph.jobs.diagnose import diagnose
from ikd_graph.plotting import charts, plot

warnings.simplefilter("ignore", UserWarning)  # a diagnosis warns; here its words are printed
bars = {}
for noise in (0.2, 0.8, 1.4):
    # 36 points in three dimensions, 100 noisy measurements of each; the latent is known here.
    data = datasets.gplvm_data(datasets.fixed_latent("easy", 36), 100, noise=noise)
    diagnosis = diagnose(data.X, n_components=3)
    Z = IKD(n_components=3, **diagnosis.parameters).fit_transform(data.X)
    bars[f"halves agree at noise {noise}"] = diagnosis.agreement
    bars[f"reached at noise {noise}"] = r2 = metrics.affine_r2(data.latent, Z)
    print(f"noise {noise}: halves agree by R² {diagnosis.agreement:.2f}, truth reached {r2:.2f}")

print(diagnosis)  # that of the noisiest: what can be read, and what may help
levels = charts.level_bars(bars, "{:.3f}".format, "R² after affine alignment")
ax = plot.chart(levels, ax=plot.axes())
print("picture:", plot.save(ax, "05_weak_data.png"))
